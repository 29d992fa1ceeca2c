// SPDX-License-Identifier: Apache-2.0
// Starts one process for the keeper. docs/adr/0003 says why no library does this.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "agent/keeper/environment.h"
#include "common/model/cpu_set.h"

namespace pop::keeper {

struct SpawnOrder {
  std::vector<std::string> argv;
  std::shared_ptr<const Environment> base;  ///< null: the keeper's own
  std::vector<std::string> environment;     ///< "NAME=value", over it
  std::string directory;                    ///< empty: the keeper's own
  model::CpuSet cpus;                       ///< to which the child is bound; empty: not bound
  model::CpuSet memory_nodes;               ///< likewise
  rlimit descriptor_limit{0, 0};            ///< RLIMIT_NOFILE of the child; {0, 0}: the keeper's own
  std::array<int, 3> stdio{-1, -1, -1};     ///< become the child's descriptors 0, 1 and 2
  int passed = -1;                          ///< becomes contract::kPassedDescriptor; -1: none
};

struct SpawnResult {
  pid_t pid = -1;      ///< -1: failed
  int exit_code = 0;   ///< then 127 (there is no such program) or 126 (it cannot be executed)
  std::string reason;  ///< then why
};

/// Starts the process. It leads its own process group, starts with no signal blocked or ignored, dies with
/// the keeper, and inherits only its stdio and what is passed. A name without a slash is looked up in the
/// child's PATH. Only for single-threaded processes: the child borrows the caller's memory until it executes.
SpawnResult spawn(const SpawnOrder& order);

}  // namespace pop::keeper
