// SPDX-License-Identifier: Apache-2.0
// Sums in the memory of the host that all instances share. Each instance sums a part of the elements, from
// all replicas' tensors and for all of them. The order of summation does not depend on which instance does it
// (docs/adr/0023).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "libpopdist/collectives/context/shared_heap.h"
#include "libpopdist/collectives/group/group.h"
#include "libpopdist/collectives/messages/transport/shm/shm_group.h"
#include "libpopdist/pod/device/device_sum.h"
#include "libpopdist/pod/device/ordered_fold.h"
#include "libpopdist/pod/device/staged_sum.h"
#include "libpopdist/pod/device/sum_places.h"

namespace popdist::pod {

class MemorySum : public DeviceSum {
 public:
  /// The `group` connects the instances, which share the memory of `heap` and `segment`.
  MemorySum(std::unique_ptr<group::Group> group, const Schedule& schedule, context::SharedHeap& heap,
            transport::SegmentView segment, std::vector<int> instance_of_replica);
  ~MemorySum() override;

  void run(const DeviceTensors& tensors) override;
  [[noreturn]] void refuse(plan::Operation call, const pop::Status& why) const override;
  [[noreturn]] void abort(plan::Operation call, const pop::Status& why) override;

 private:
  using Clock = pop::sys::AwakeClock;

  void sumGathered(const DeviceTensors& tensors);
  void sumWhereTheyAre(const DeviceTensors& tensors);
  void sumStaged(const DeviceTensors& tensors);
  void beginStaged(const DeviceTensors& tensors);
  void tellPlaces(const DeviceTensors& tensors);
  void fold(plan::Range part);
  void meet();
  void confirm();
  void gather(const void* input, void* output, std::size_t count, Type type);

  const std::unique_ptr<group::Group> group_;
  SumPlaces places_;
  OrderedFold fold_;
  StagedSum staged_;

  // For the call in progress:
  group::CollectiveCall call_;
  std::vector<std::size_t> numbers_;  ///< that instances must agree on
  Clock::time_point deadline_;
  std::vector<std::byte> packed_;
  std::vector<std::byte> gathered_;
  std::vector<const std::byte*> from_;
  std::vector<std::byte*> to_;
};

}  // namespace popdist::pod
