// SPDX-License-Identifier: Apache-2.0
// In the memory of the host that all instances are on. Each instance sums a part of the elements for all,
// from all replicas' tensors; in which order has nothing to do with who does it (docs/adr/0023).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "libpopdist/src/context/shared_heap.h"
#include "libpopdist/src/group/group.h"
#include "libpopdist/src/pod/device/device_sum.h"
#include "libpopdist/src/pod/device/ordered_fold.h"
#include "libpopdist/src/transport/shm/shm_group.h"

namespace popdist::pod {

class MemorySum : public DeviceSum {
 public:
  struct Place {
    context::SharedHeap* heap = nullptr;
    transport::SegmentView segment;
    std::vector<int> instance_of_replica;
  };

  /// `group`: of instances, which share their host's memory.
  MemorySum(std::unique_ptr<group::Group> group, const ReplicaLayout& layout, Place place);
  ~MemorySum() override;

  void run(const DeviceTensors& tensors) override;
  [[noreturn]] void refuse(const pop::Status& why) const override;
  [[noreturn]] void giveUp(const pop::Status& why) override;

 private:
  using Clock = pop::sys::AwakeClock;

  void sumGathered(const DeviceTensors& tensors);
  void sumWhereTheyAre(const DeviceTensors& tensors);
  void findAll(const DeviceTensors& tensors, std::size_t element);
  void beginStaged(const DeviceTensors& tensors);
  void sumStaged(const DeviceTensors& tensors);
  void exportChunk(const DeviceTensors& tensors, std::uint64_t chunk);
  void sumChunk(const DeviceTensors& tensors, std::uint64_t chunk);
  void importChunk(const DeviceTensors& tensors, std::uint64_t chunk);
  plan::Range chunkOf(const DeviceTensors& tensors, std::uint64_t chunk) const;

  void fold(plan::Range part);
  void tellPlaces(const DeviceTensors& tensors);
  std::size_t placesOfEach() const { return 1 + most_local_; }
  std::span<const std::uint64_t> placesOf(int instance) const;
  bool areMapped(const DeviceTensors& tensors) const;
  bool areMapped(int instance) const;
  int mappedInstances() const;
  std::size_t chunkBytes() const;
  void takeStage();
  void meet();
  void confirm();
  void gather(const void* input, void* output, std::size_t count, Type type);
  plan::Range shareOf(int instance, plan::Range elements) const;
  std::byte* stageOf(int instance, std::uint64_t chunk, int local) const;
  std::byte* slotOf(void* stage, std::uint64_t chunk, int local) const;
  std::size_t bytesIn(plan::Range chunk, plan::Range part) const;
  std::byte* at(void* tensor, std::size_t element) const;
  std::byte* mapped(std::uint64_t offset) const { return place_.segment.base + offset; }
  int instanceOf(std::size_t replica) const { return place_.instance_of_replica[replica]; }

  const std::unique_ptr<group::Group> group_;
  const Place place_;
  const int instance_;
  std::vector<int> local_of_replica_;  ///< its number in its instance
  std::size_t most_local_ = 0;         ///< replicas of one instance
  std::size_t chunk_bytes_ = 0;        ///< of a replica, in a stage
  void* stage_ = nullptr;
  OrderedFold fold_;

  // Of the call that is under way:
  group::CollectiveCall call_;
  Clock::time_point deadline_;
  std::vector<std::uint64_t> own_places_;  ///< of the stage, then of the tensors, in the segment
  std::vector<std::uint64_t> places_;      ///< the same of all, by instance
  std::vector<std::byte> packed_;
  std::vector<std::byte> gathered_;
  std::vector<const std::byte*> from_;
  std::vector<std::byte*> to_;
};

}  // namespace popdist::pod
