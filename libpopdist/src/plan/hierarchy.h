// SPDX-License-Identifier: Apache-2.0
// How a communicator's ranks lie on hosts, and in which way its collectives use that: first inside each host,
// then between the hosts, then inside again, so that each byte crosses the network once per direction. The
// only place that decides which collectives take these levels; all ranks must come to the same answer.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libpopdist/src/plan/operation.h"
#include "libpopdist/src/plan/plan.h"

namespace popdist::plan {

/// Ranks of one host follow each other, and so do hosts.
class HostLayout {
 public:
  /// `members[h]`: how many ranks host h has; at least one. `rank`: whose sight this is.
  HostLayout(std::vector<int> members, int rank);

  int ranks() const { return first_ranks_.back() + members_.back(); }
  int hosts() const { return static_cast<int>(members_.size()); }
  int host() const { return host_; }    ///< of this rank
  int local() const { return local_; }  ///< this rank's place on its host
  int members() const { return membersOf(host_); }
  int membersOf(int host) const { return members_[static_cast<std::size_t>(host)]; }
  int firstRankOf(int host) const { return first_ranks_[static_cast<std::size_t>(host)]; }
  bool even() const { return even_; }  ///< all hosts have as many members
  int hostOf(int rank) const;

  /// The rank of each host in place `local`: its lane. Of even layouts, or place 0.
  std::vector<int> lane(int local) const;

 private:
  std::vector<int> members_;
  std::vector<int> first_ranks_;
  int host_ = 0;
  int local_ = 0;
  bool even_ = true;
};

enum class HierarchyWay : std::uint8_t {
  kFlat,     ///< messages between all ranks, wherever they are
  kLeaders,  ///< one rank of each host speaks for it
  kLanes,    ///< each rank of a host speaks for its part, with those in the same place on other hosts
};

/// "flat", "leaders", "lanes".
const char* nameOf(HierarchyWay way);

/// Of an operation with `bytes` in the vector, or in one rank's block.
HierarchyWay hierarchyFor(Operation operation, std::size_t bytes, const HostLayout& layout);

/// `bytes` of a vector that one rank receives for its host, or sends for it, are passed on in pieces of at
/// most so many: while one is under way the others of the host work on the piece before.
inline constexpr std::size_t kPassedOnBytes = std::size_t{1} << 20;

/// An all-reduce in lanes goes in pieces of so much of all of a host's lanes.
inline constexpr std::size_t kLanesPieceBytes = std::size_t{2} << 20;

/// `plan`, made for positions, with the ranks that are there.
Plan onRanks(Plan plan, std::span<const int> rank_of_position);

}  // namespace popdist::plan
