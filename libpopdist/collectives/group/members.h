// SPDX-License-Identifier: Apache-2.0
// The ranks of a group: the instance that holds each, and their names in error texts.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/collectives/context/context_state.h"
#include "libpopdist/collectives/messages/exec/executor.h"

namespace popdist::group {

class Members {
 public:
  /// `instance_of_rank[r]` is the instance that holds rank r. `context` outlives it.
  Members(const context::ContextState& context, std::vector<int> instance_of_rank);

  int size() const { return static_cast<int>(instance_of_rank_.size()); }
  const std::vector<int>& instances() const { return instance_of_rank_; }
  int instanceOf(int rank) const { return instance_of_rank_[static_cast<std::size_t>(rank)]; }
  /// The group's number, the same on all instances.
  int number() const { return number_; }
  void setNumber(int number) { number_ = number; }
  const std::vector<int>& localRanks() const { return local_ranks_; }
  const context::ContextState& context() const { return context_; }

  /// The numeric address of each rank that is reached over a network, otherwise "".
  void setHosts(std::vector<std::string> host_of_rank) { host_of_rank_ = std::move(host_of_rank); }

  /// Names a rank with its instance and, if known, its host.
  std::string nameOfRank(int rank) const;
  /// Names an instance by the rank that it holds.
  std::string nameOfInstance(int instance) const;
  /// nameOfRank() as a function, for objects that this one outlives.
  exec::RankNames names() const {
    return [this](int rank) { return nameOfRank(rank); };
  }

  /// The rank that caused a failure; -1: none.
  int rankToBlame(const exec::Failure& failure) const;
  /// `status` with the instance and host of the rank that caused it, unless it names them already.
  pop::Status naming(int blamed, const pop::Status& status) const;

 private:
  std::string placeOf(int rank) const;

  const context::ContextState& context_;
  const std::vector<int> instance_of_rank_;
  std::vector<int> local_ranks_;
  int number_ = -1;
  std::vector<std::string> host_of_rank_;
};

}  // namespace popdist::group
