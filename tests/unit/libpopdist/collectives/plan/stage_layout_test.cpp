// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/stage_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace popdist::plan {
namespace {

// So that receivers are busy while senders are.
TEST(MovesOfOneDirection, GoInChunksThatFitASlot) {
  for (const int ranks : {2, 3, 4, 8, 100}) {
    const StageShape slots = stageLayoutFor(ranks).slots;
    for (const Operation operation :
         {Operation::kBroadcast, Operation::kGather, Operation::kScatter, Operation::kSendRecv}) {
      const StageShape chunks = chunksOf(operation, slots);
      EXPECT_LE(chunks.slot_bytes, std::min<std::size_t>(slots.slot_bytes, 256 << 10));
      EXPECT_EQ(chunks.slots, slots.slots);
    }
    EXPECT_EQ(chunksOf(Operation::kAllReduce, slots).slot_bytes, slots.slot_bytes);
  }
}

// As many as a job may have, all on one host.
TEST(Chunks, HaveALineForEachRank) {
  for (const int ranks : {2, 1024, 1025, 2048, 2049, 4097, 65536}) {
    const StageShape slots = stageLayoutFor(ranks).slots;
    for (const Operation operation : {Operation::kAllReduce, Operation::kScatter})
      EXPECT_GE(chunksOf(operation, slots).slot_bytes / static_cast<std::size_t>(ranks), kLineBytes) << ranks;
  }
}

}  // namespace
}  // namespace popdist::plan
