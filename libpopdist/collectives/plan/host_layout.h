// SPDX-License-Identifier: Apache-2.0
// The placement of a communicator's ranks on hosts.
#pragma once

#include <span>
#include <vector>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

/// The ranks of a host are consecutive.
class HostLayout {
 public:
  /// `members[h]` is the number of ranks on host h, at least one. `rank` is the rank that asks.
  HostLayout(std::vector<int> members, int rank);

  int ranks() const { return first_ranks_.back() + members_.back(); }
  int hosts() const { return static_cast<int>(members_.size()); }
  int host() const { return host_; }    ///< host of this rank
  int local() const { return local_; }  ///< this rank's place on its host
  int members() const { return membersOf(host_); }
  int membersOf(int host) const { return members_[static_cast<std::size_t>(host)]; }
  int firstRankOf(int host) const { return first_ranks_[static_cast<std::size_t>(host)]; }
  bool even() const { return even_; }  ///< all hosts have the same number of members
  int hostOf(int rank) const;

  /// The lane `local`: the rank at that place on each host. Needs an even layout, or place 0.
  std::vector<int> lane(int local) const;

 private:
  std::vector<int> members_;
  std::vector<int> first_ranks_;
  int host_ = 0;
  int local_ = 0;
  bool even_ = true;
};

/// Translates `plan`, made for positions, to the ranks at these positions.
Plan onRanks(Plan plan, std::span<const int> rank_of_position);

}  // namespace popdist::plan
