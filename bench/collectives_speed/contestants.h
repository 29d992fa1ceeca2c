// SPDX-License-Identifier: Apache-2.0
// The contestants: libpopdist, and the installed peers, each with its best settings; one row for each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/collectives_speed/cell.h"

namespace pop::bench {
class HostRig;
}

namespace pop::bench::collectives {

enum class Family : std::uint8_t {
  kOurs,
  kOpenMpi,
  kMpich,
  kOpenMpiTcp,    // over TCP between all ranks
  kOpenMpiHosts,  // between hosts only, in memory within each
  kGloo,
};

inline constexpr const char* kPrivate = "private";  // ours, in a program's ordinary memory
inline constexpr const char* kShared = "shared";    // ours, in popdist::Buffer
inline constexpr const char* kTcp = "tcp";          // ours, over the loopback interface

struct Contestant {
  std::string name;
  Family family = Family::kOurs;
  std::string launcher;                     // path; empty: not installed
  std::vector<std::string> options;         // of the launcher, before the number of ranks
  std::vector<std::string> if_a_core_each;  // further ones, while every rank can have a core
  std::vector<std::string> if_crowded;      // else
  std::vector<std::string> environment;     // NAME=VALUE
  std::string ranks_option;                 // what stands before the number of ranks
  std::string rank_program;                 // path; empty: not built, for want of its library
  std::string variant;                      // last argument of the rank program; empty: none
  std::vector<Operation> operations;        // empty: all

  bool takesPart(const Cell& cell) const;
  std::vector<std::string> commandLine(const Cell& cell, int batches, int cores) const;
};

inline constexpr const char* kHosts = "hosts";               // ours, over several hosts, ordinary memory
inline constexpr const char* kHostsShared = "hosts-shared";  // likewise, in popdist::Buffer

/// Uses network protocols within this host.
bool isOverTcp(const std::string& contestant, Family family);

std::vector<std::string> contestantNames();

/// The contestants named in `only` (empty: all), including those that are not installed on this host or on a
/// rig's hosts. The project's own programs are looked for in `own_directory`.
std::vector<Contestant> chooseContestants(const std::vector<std::string>& only,
                                          const std::string& own_directory, const HostRig* rig);

}  // namespace pop::bench::collectives
