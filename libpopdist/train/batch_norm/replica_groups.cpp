// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/batch_norm/replica_groups.h"

#include <algorithm>
#include <set>
#include <utility>

#include "libpopdist/internal/own_calls.h"
#include "libpopdist/train/agreement/agreement.h"

namespace popdist::train {

std::vector<int> linkedInstances(std::span<const ReplicaRange> instances, int span) {
  std::vector<int> linked(instances.size());
  std::vector<int> first_of_group;  // an instance of each group; -1: none yet
  for (std::size_t instance = 0; instance < instances.size(); ++instance) {
    linked[instance] = static_cast<int>(instance);
    const ReplicaRange& range = instances[instance];
    for (int replica = range.first; replica < range.first + range.count; ++replica) {
      const auto group = static_cast<std::size_t>(replica / span);
      if (first_of_group.size() <= group) first_of_group.resize(group + 1, -1);
      if (first_of_group[group] < 0) first_of_group[group] = static_cast<int>(instance);
      const int other = linked[static_cast<std::size_t>(first_of_group[group])];
      const int own = linked[instance];
      std::replace(linked.begin(), linked.end(), std::max(other, own), std::min(other, own));
    }
  }
  return linked;
}

ReplicaGroups::ReplicaGroups(Context& context, std::vector<ReplicaRange> instances, int span) : span_(span) {
  const std::vector<int> linked = linkedInstances(instances, span);
  const auto self = static_cast<std::size_t>(context.instanceIndex());
  own_ = instances[self];
  for (std::size_t first = 0; first < instances.size(); ++first) {
    if (linked[first] != static_cast<int>(first)) continue;
    std::set<unsigned> set;
    for (std::size_t instance = 0; instance < instances.size(); ++instance) {
      if (linked[instance] != static_cast<int>(first)) continue;
      set.insert(static_cast<unsigned>(instance));
      if (linked[self] == static_cast<int>(first)) members_.push_back(instances[instance]);
    }
    if (set.size() == 1) continue;
    if (set.size() == instances.size())
      communicator_ = &internal::ownCommunicator(context);
    else if (std::unique_ptr<Communicator> made = context.createCommunicator(set))
      made_ = std::move(made), communicator_ = made_.get(), told_ = internal::alsoAborted(context, *made_);
  }
}

std::size_t ReplicaGroups::placeOf(int replica) const {
  std::size_t before = 0;
  for (const ReplicaRange& member : members_) {
    if (replica >= member.first && replica < member.first + member.count)
      return before + static_cast<std::size_t>(replica - member.first);
    before += static_cast<std::size_t>(member.count);
  }
  return before;
}

void ReplicaGroups::sum(std::span<double> values, std::string_view what) {
  if (span_ == 1) return;
  const std::size_t count = values.size() / static_cast<std::size_t>(own_.count);
  std::vector<std::size_t> counts;
  std::size_t all = 0;
  for (const ReplicaRange& member : members_)
    all += counts.emplace_back(static_cast<std::size_t>(member.count) * count);
  gathered_.resize(all);
  if (communicator_ == nullptr)
    std::copy(values.begin(), values.end(), gathered_.begin());
  else
    communicator_->allGather(values.data(), gathered_.data(), counts, Type::kDouble, {.tensor = what});
  for (int local = 0; local < own_.count; ++local) {
    const std::span<double> sums = values.subspan(static_cast<std::size_t>(local) * count, count);
    const int first = (own_.first + local) / span_ * span_;
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int replica = first; replica < first + span_; ++replica) {
      const double* const from = gathered_.data() + placeOf(replica) * count;
      for (std::size_t i = 0; i < count; ++i) sums[i] += from[i];
    }
  }
}

}  // namespace popdist::train
