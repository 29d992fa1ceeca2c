// SPDX-License-Identifier: Apache-2.0
// What collectives by messages take of a process's memory beside their callers' buffers, however long those
// are: seen by the system, from outside of what the library says of itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <latch>
#include <string>
#include <vector>

#include "libpopdist/collectives/context/environment.h"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

using testing::GroupShape;
using testing::ThreadGroup;

constexpr int kRanks = 4;
constexpr std::size_t kMostBytesPerRank = std::size_t{16} << 20;
constexpr std::size_t kCount = std::size_t{24} << 20;  // 96 MiB of floats: more than all may take together

// The most that this process has had in memory at once, since forgetPeak().
std::size_t peakBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    std::size_t kib = 0;
    status >> kib;
    return kib << 10;
  }
  return 0;
}
void forgetPeak() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

GroupShape shapeOver(bool tcp) {
  context::TransportSettings transport = context::transportSettingsFromEnvironment();
  transport.tcp_only = tcp;
  return {.replicas_of_instance = std::vector<int>(kRanks, 1), .transport = transport};
}

class WorkingMemory : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) ::setenv("POPDIST_SHARED_ALGORITHM", "messages", 1);
  }
  void TearDown() override { ::unsetenv("POPDIST_SHARED_ALGORITHM"); }
};

TEST_P(WorkingMemory, OfReductionsDoesNotGrowWithTheVector) {
  const std::vector<float> in(kCount, 1.0F);
  std::vector<float> out(kCount);  // of the root, or a part of each rank
  std::size_t before = 0;
  std::latch touched(kRanks);
  std::latch forgotten(1);
  ThreadGroup group(shapeOver(GetParam()));
  group.run([&](Context& context) {
    Communicator& world = context.world();
    float one = 1;
    world.allReduce(&one, &one, 1, Type::kFloat);  // whatever is there from the first call on
    touched.arrive_and_wait();
    if (world.rank() == 0) {
      forgetPeak();
      before = peakBytes();
      forgotten.count_down();
    }
    forgotten.wait();
    world.reduce(in.data(), out.data(), kCount, Type::kFloat, Operator::kSum, 0);
    const std::size_t block = kCount / kRanks;
    float* const own = out.data() + static_cast<std::size_t>(world.rank()) * block;
    world.barrier();
    world.reduceScatter(in.data(), own, block, Type::kFloat, Operator::kSum);
  });
  ASSERT_GT(before, 2 * kCount * sizeof(float));
  EXPECT_LT(peakBytes() - before, kRanks * kMostBytesPerRank);
  EXPECT_EQ(std::count(out.begin(), out.end(), 4.0F), static_cast<std::ptrdiff_t>(kCount));
}

INSTANTIATE_TEST_SUITE_P(Ways, WorkingMemory, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "tcp" : "messages"; });

}  // namespace
}  // namespace popdist
