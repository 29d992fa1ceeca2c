// SPDX-License-Identifier: Apache-2.0
// poprun's programs: the same one with more of its code, so that a job on this host loads no more than it
// needs. Pure.
#pragma once

#include <cstdint>

namespace pop {

/// Each has what those before it have.
enum class Program : std::uint8_t {
  kPoprun,   ///< jobs on this host; plans all jobs
  kService,  ///< other hosts, by their agent services
  kHosts,    ///< other hosts over SSH; detached jobs
  kDaemon,   ///< popdistd: jobs that it runs, and partitions
};

/// Needs of a command line.
struct Needs {
  bool popdistd = false;
  bool runner = false;  ///< a detached job, or a command on some
  bool other_hosts = false;
  bool by_service = false;  ///< they are reached so
};

/// The first program that has all of it.
Program programFor(const Needs& needs);

/// Its file.
const char* nameOf(Program program);

}  // namespace pop
