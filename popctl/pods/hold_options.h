// SPDX-License-Identifier: Apache-2.0
// `popctl hold partition`: what poprun says to the popctl that gets and holds a job's partition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "popctl/command.h"

namespace pop::popctl {

struct HoldOptions {
  CommonOptions common;
  std::string partition;  ///< empty: the only one there is
  std::string allocation;
  std::uint32_t size = 1;  ///< what the job needs, as the next four
  std::uint32_t num_gcds = 1;
  std::uint32_t num_replicas = 1;
  std::uint32_t num_segments = 1;
  int sync = 0;               ///< virmgrpc.SyncType; 0: any
  bool update = false;        ///< make it anew if it does not fit
  std::optional<bool> reset;  ///< missing: if it is not reconfigurable
  bool remove = false;        ///< after the job, if it was made here
  bool only_remove = false;   ///< `partition`, whose holder was killed
  int attempts = 1;
  bool verbose = false;
  std::string holder;  ///< for people: "poprun 4711 on h0"
};

bool isHoldPartition(const std::vector<std::string>& arguments);

/// The exit code where there is nothing more to do: a mistake.
std::variant<HoldOptions, int> parseHoldPartition(const std::vector<std::string>& arguments);

}  // namespace pop::popctl
