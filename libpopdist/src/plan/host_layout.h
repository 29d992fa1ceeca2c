// SPDX-License-Identifier: Apache-2.0
// How a communicator's ranks lie on hosts.
#pragma once

#include <span>
#include <vector>

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

/// `plan`, made for positions, with the ranks that are there.
Plan onRanks(Plan plan, std::span<const int> rank_of_position);

}  // namespace popdist::plan
