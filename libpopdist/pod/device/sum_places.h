// SPDX-License-Identifier: Apache-2.0
// Places of the tensors of a Pod's replicas, of all instances of a host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libpopdist/collectives/messages/transport/shm/shm_group.h"
#include "libpopdist/collectives/plan/shared_fold.h"

namespace popdist::pod {

class SumPlaces {
 public:
  /// For this `instance` among `instances`. `instance_of_replica` covers all replicas.
  SumPlaces(transport::SegmentView segment, std::vector<int> instance_of_replica, int instance, int instances)
      : segment_(segment), instance_of_replica_(std::move(instance_of_replica)), instance_(instance) {
    std::vector<int> replicas_of(static_cast<std::size_t>(instances));
    for (const int each : instance_of_replica_)
      local_of_replica_.push_back(replicas_of[static_cast<std::size_t>(each)]++);
    max_local_ = static_cast<std::size_t>(*std::max_element(replicas_of.begin(), replicas_of.end()));
    places_.resize(ofEach() * static_cast<std::size_t>(instances));
  }

  int instance() const { return instance_; }
  int instances() const { return static_cast<int>(places_.size() / ofEach()); }
  std::size_t replicas() const { return instance_of_replica_.size(); }
  std::size_t maxLocal() const { return max_local_; }  ///< replicas of one instance
  int instanceOf(std::size_t replica) const { return instance_of_replica_[replica]; }
  std::size_t localOf(std::size_t replica) const {  ///< its number in its instance
    return static_cast<std::size_t>(local_of_replica_[replica]);
  }

  /// Numbers that each instance publishes: the offset of its stage in the segment, then those of its tensors,
  /// or kPrivate.
  std::size_t ofEach() const { return 1 + max_local_; }
  std::vector<std::uint64_t> own(const void* stage, std::span<void* const> tensors) const {
    std::vector<std::uint64_t> places(ofEach(), 0);
    places.front() = segment_.offsetOf(stage);
    std::transform(tensors.begin(), tensors.end(), places.begin() + 1,
                   [this](const void* tensor) { return segment_.offsetOf(tensor); });
    return places;
  }
  std::uint64_t* all() { return places_.data(); }  ///< by instance

  /// After all have published it:
  std::byte* stageOf(int instance) const { return segment_.base + placesOf(instance).front(); }
  std::byte* tensorOf(std::size_t replica) const {
    return segment_.base + placesOf(instanceOf(replica))[1 + localOf(replica)];
  }
  /// The number of instances whose tensors can all be reached by others.
  int mappedInstances() const {
    int mapped = 0;
    for (int each = 0; each < instances(); ++each) mapped += areMapped(placesOf(each)) ? 1 : 0;
    return mapped;
  }
  static bool areMapped(std::span<const std::uint64_t> places) {
    return std::find(places.begin() + 1, places.end(), transport::kPrivate) == places.end();
  }

  /// The part of `elements` that an instance sums for all.
  plan::Range shareOf(int instance, plan::Range elements, std::size_t element_bytes) const {
    const plan::Range bytes = plan::lineBlock(elements.count * element_bytes, instances(), instance);
    return {elements.begin + bytes.begin / element_bytes, bytes.count / element_bytes};
  }
  /// The part of parts[instance] that it sums for all instances that need the same.
  plan::Range shareOfPart(int instance, std::span<const plan::Range> parts, std::size_t element_bytes) const {
    const plan::Range part = parts[static_cast<std::size_t>(instance)];
    int owners = 0;
    int before = 0;
    for (int other = 0; other < instances(); ++other) {
      if (!areSame(parts[static_cast<std::size_t>(other)], part)) continue;
      ++owners;
      before += other < instance ? 1 : 0;
    }
    const plan::Range bytes = plan::lineBlock(part.count * element_bytes, owners, before);
    return {part.begin + bytes.begin / element_bytes, bytes.count / element_bytes};
  }
  /// True if a replica's tensor gets what this instance sums.
  bool needs(std::size_t replica, std::span<const plan::Range> parts) const {
    if (parts.empty()) return true;
    return localOf(replica) == 0 && areSame(parts[static_cast<std::size_t>(instanceOf(replica))],
                                            parts[static_cast<std::size_t>(instance_)]);
  }

 private:
  static bool areSame(plan::Range a, plan::Range b) { return a.begin == b.begin && a.count == b.count; }

  std::span<const std::uint64_t> placesOf(int instance) const {
    return std::span(places_).subspan(static_cast<std::size_t>(instance) * ofEach(), ofEach());
  }

  const transport::SegmentView segment_;
  const std::vector<int> instance_of_replica_;
  const int instance_;
  std::vector<int> local_of_replica_;
  std::size_t max_local_ = 0;
  std::vector<std::uint64_t> places_;
};

}  // namespace popdist::pod
