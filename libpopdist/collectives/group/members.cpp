// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/members.h"

#include <algorithm>
#include <utility>

#include "common/sys/host_name.h"

namespace popdist::group {

Members::Members(const context::ContextState& context, std::vector<int> instance_of_rank)
    : context_(context), instance_of_rank_(std::move(instance_of_rank)) {
  for (int rank = 0; rank < size(); ++rank) {
    if (instanceOf(rank) == context.instance_index) local_ranks_.push_back(rank);
  }
}

std::string Members::nameOfRank(int rank) const {
  if (rank < 0 || rank >= size()) return "rank " + std::to_string(rank);
  return "rank " + std::to_string(rank) + " (" + placeOf(rank) + ')';
}

// End notices name instances, not ranks.
std::string Members::nameOfInstance(int instance) const {
  const auto rank = std::find(instance_of_rank_.begin(), instance_of_rank_.end(), instance);
  if (rank == instance_of_rank_.end()) return "instance " + std::to_string(instance);
  return nameOfRank(static_cast<int>(rank - instance_of_rank_.begin()));
}

std::string Members::placeOf(int rank) const {
  const int instance = instanceOf(rank);
  const std::string name = "instance " + std::to_string(instance);
  if (context_.isLocal(instance)) return name + " on " + pop::sys::hostName();
  const auto index = static_cast<std::size_t>(rank);
  const bool is_far = index < host_of_rank_.size() && !host_of_rank_[index].empty();
  return is_far ? name + " on " + host_of_rank_[index] : name;
}

// A number from another rank may be anything.
int Members::rankToBlame(const exec::Failure& failure) const {
  const auto member = std::find(instance_of_rank_.begin(), instance_of_rank_.end(), failure.peer_instance);
  if (member != instance_of_rank_.end()) return static_cast<int>(member - instance_of_rank_.begin());
  const bool is_rank = failure.peer_rank >= 0 && failure.peer_rank < size();
  return is_rank ? failure.peer_rank : -1;
}

// The code that finds a failure may not know where the rank is.
pop::Status Members::naming(int blamed, const pop::Status& status) const {
  if (blamed < 0 || blamed == local_ranks_.front()) return status;
  const std::string instance = "instance " + std::to_string(instanceOf(blamed));
  const std::string& text = status.message();
  for (const char* const after : {" ", ")"}) {
    if (text.find(instance + after) != std::string::npos) return status;
  }
  return {status.code(), text + " (rank " + std::to_string(blamed) + " is " + placeOf(blamed) + ')'};
}

}  // namespace popdist::group
