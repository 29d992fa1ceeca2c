// SPDX-License-Identifier: Apache-2.0
// Sums through stages: each instance has one, where the others find the tensors that they sum, and the sums.
// In each turn one chunk is exported, one summed, one imported; all instances meet between turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libpopdist/collectives/context/shared_heap.h"
#include "libpopdist/pod/device/device_sum.h"
#include "libpopdist/pod/device/ordered_fold.h"
#include "libpopdist/pod/device/sum_places.h"

namespace popdist::pod {

class StagedSum {
 public:
  /// They outlive it.
  StagedSum(context::SharedHeap& heap, const SumPlaces& places, OrderedFold& fold);

  /// The first chunk is in the stage when others learn where that is. kResourceExhausted.
  pop::Status begin(const DeviceTensors& tensors);
  /// From 1 on, up to turnsOf().
  void turn(const DeviceTensors& tensors, std::uint64_t turn);
  std::uint64_t turnsOf(const DeviceTensors& tensors) const { return chunksOf(tensors) + 1; }

  const void* stage() const { return stage_; }  ///< nullptr: none has been needed yet
  void freeStage() { heap_.free(stage_); }

 private:
  void exportChunk(const DeviceTensors& tensors, std::uint64_t chunk);
  void sumChunk(const DeviceTensors& tensors, std::uint64_t chunk);
  void importChunk(const DeviceTensors& tensors, std::uint64_t chunk);
  std::uint64_t chunksOf(const DeviceTensors& tensors) const;
  plan::Range chunkOf(const DeviceTensors& tensors, std::uint64_t chunk) const;
  std::byte* slotOf(void* stage, std::uint64_t chunk, std::size_t local) const;

  context::SharedHeap& heap_;
  const SumPlaces& places_;
  OrderedFold& fold_;
  const std::size_t chunk_bytes_;  ///< bytes of a replica in a stage
  void* stage_ = nullptr;
  std::vector<std::byte*> memory_;  ///< the place of a chunk's sum, for each replica
};

}  // namespace popdist::pod
