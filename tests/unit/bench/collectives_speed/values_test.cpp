// SPDX-License-Identifier: Apache-2.0
// That the check of results passes right ones and ends the process on wrong ones, for every operation and
// type: on members that are threads' worth of plain loops.
#include "bench/collectives_speed/ranks/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

namespace pop::bench::collectives {
namespace {

constexpr int kRanks = 8;

/// Has memory, a rank and a size; the test does what the operation would.
class QuietMember : public Member {
 public:
  explicit QuietMember(int rank) : rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return kRanks; }
  void allReduce(void*, std::size_t) override {}
  void broadcast(void*, std::size_t, int) override {}
  void allGather(const void*, void*, std::size_t) override {}
  void* reduceScatter(void*, void* out, std::size_t) override { return out; }
  void allToAll(const void*, void*, std::size_t) override {}
  void barrier() override {}

 private:
  const int rank_;
};

/// The buffers of all ranks, filled.
template <typename T>
struct World {
  World(Operation operation, std::size_t bytes)
      : task{.operation = operation, .type = popdist::typeOf<T>(), .bytes = bytes} {
    for (int rank = 0; rank < kRanks; ++rank) {
      members.push_back(std::make_unique<QuietMember>(rank));
      buffers.push_back(allocateBuffers(*members.back(), task));
      fillForCheck(buffers.back(), task.type, rank);
    }
  }
  T* in(int rank) { return static_cast<T*>(buffers[static_cast<std::size_t>(rank)].in); }
  T* out(int rank) { return static_cast<T*>(buffers[static_cast<std::size_t>(rank)].out); }
  std::size_t block() const { return buffers[0].block; }

  /// Slowly and obviously.
  void perform() {
    std::vector<float> sums(buffers[0].in_count);
    for (int rank = 0; rank < kRanks; ++rank) {
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<float>(in(rank)[i]);
    }
    for (int rank = 0; rank < kRanks; ++rank) {
      const std::size_t own = static_cast<std::size_t>(rank) * block();
      for (std::size_t i = 0; i < block(); ++i) {
        if (task.operation == Operation::kAllReduce) in(rank)[i] = T(sums[i]);
        if (task.operation == Operation::kBroadcast) in(rank)[i] = in(0)[i];
        if (task.operation == Operation::kReduceScatter) out(rank)[i] = T(sums[own + i]);
        for (int from = 0; from < kRanks && task.operation == Operation::kAllGather; ++from)
          out(rank)[static_cast<std::size_t>(from) * block() + i] = in(from)[i];
        for (int from = 0; from < kRanks && task.operation == Operation::kAllToAll; ++from)
          out(rank)[static_cast<std::size_t>(from) * block() + i] = in(from)[own + i];
      }
    }
  }
  T* result(int rank) { return buffers[0].out_count == 0 ? in(rank) : out(rank); }
  void checkAll() {
    for (int rank = 0; rank < kRanks; ++rank)
      check(task, buffers[static_cast<std::size_t>(rank)], result(rank), rank, kRanks);
  }

  const Task task;
  std::vector<std::unique_ptr<QuietMember>> members;
  std::vector<Buffers> buffers;
};

template <typename T>
void expectRightPassesAndWrongEnds() {
  for (const Operation operation : kOperations) {
    if (operation == Operation::kBarrier) continue;
    for (const std::size_t bytes : {8U, 4096U}) {
      World<T> world(operation, bytes);
      world.perform();
      world.checkAll();
      T& last = world.result(kRanks - 1)[world.block() - 1];
      last = T(static_cast<float>(last) + 1);
      EXPECT_EXIT(world.checkAll(), ::testing::ExitedWithCode(1), "wrong result of .* of rank 7")
          << nameOf(operation);
    }
  }
}

TEST(Values, OfFloat) {
  expectRightPassesAndWrongEnds<float>();
}

TEST(Values, OfBfloat16) {
  expectRightPassesAndWrongEnds<popdist::bfloat16>();
}

TEST(Values, OfHalf) {
  expectRightPassesAndWrongEnds<popdist::half>();
}

TEST(Values, AnOperationThatDoesNothingIsFoundOut) {
  for (const Operation operation : kOperations) {
    if (operation == Operation::kBarrier) continue;
    World<float> world(operation, 4096);
    EXPECT_EXIT(world.checkAll(), ::testing::ExitedWithCode(1), "wrong result") << nameOf(operation);
  }
}

TEST(Values, ForTimingStayWhatTheyAreUnderSums) {
  World<float> world(Operation::kAllReduce, 64);
  fillForTiming(world.buffers[0], popdist::Type::kFloat);
  EXPECT_TRUE(std::isinf(world.in(0)[15]));
}

}  // namespace
}  // namespace pop::bench::collectives
