// SPDX-License-Identifier: Apache-2.0
// Sums of 16-bit floats where ranks share no memory: what travels has their type, and is rounded to it each
// time. How far that may be from the sum, and that it is the same on all ranks and run after run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

constexpr std::size_t kRoundedElements =
    30'001;  // each of the ways by size is a case below; odd, so that blocks are not equal

struct RoundingCase {
  std::size_t count;
  bool tcp_only;
  int instances_per_host;
};

constexpr int kRoundingRanks = 5;

template <typename T>
std::vector<T> inputOf(int rank, std::size_t count) {
  pop::SplitMix64 random(static_cast<std::uint64_t>(rank) + 1);
  std::vector<T> values(count);
  for (T& value : values) value = T(static_cast<float>(random.below(4001)) / 1000.0F - 2.0F);
  return values;
}

/// On each rank.
template <typename T>
std::vector<std::vector<T>> sumsOf(const RoundingCase& way) {
  std::vector<std::vector<T>> sums(kRoundingRanks);
  testing::ThreadGroup group({.replicas_of_instance = std::vector<int>(kRoundingRanks, 1),
                              .transport = {.tcp_only = way.tcp_only},
                              .instances_per_host = way.instances_per_host});
  group.run([&](Context& context) {
    std::vector<T> data = inputOf<T>(context.instanceIndex(), way.count);
    context.world().allReduce(std::span<T>(data));
    sums[static_cast<std::size_t>(context.instanceIndex())] = std::move(data);
  });
  return sums;
}

template <typename T>
std::vector<std::uint16_t> bitsOf(const std::vector<T>& values) {
  std::vector<std::uint16_t> bits;
  for (const T& value : values) bits.push_back(value.bits);
  return bits;
}

// A partial result is rounded once for each rank that adds to it, by half of `unit` of what it is at most.
template <typename T>
void expectNearTheSum(const RoundingCase& way, const std::vector<T>& sums, double unit) {
  std::vector<std::vector<T>> inputs;
  for (int rank = 0; rank < kRoundingRanks; ++rank) inputs.push_back(inputOf<T>(rank, way.count));
  for (std::size_t i = 0; i < way.count; ++i) {
    double sum = 0, magnitude = 0;
    for (const std::vector<T>& input : inputs) {
      sum += static_cast<double>(static_cast<float>(input[i]));
      magnitude += std::abs(static_cast<double>(static_cast<float>(input[i])));
    }
    ASSERT_NEAR(static_cast<double>(static_cast<float>(sums[i])), sum, kRoundingRanks * unit / 2 * magnitude)
        << i;
  }
}

template <typename T>
void check(const RoundingCase& way, double unit) {
  const std::vector<std::vector<T>> sums = sumsOf<T>(way);
  expectNearTheSum(way, sums.front(), unit);
  for (const std::vector<T>& each : sums) EXPECT_EQ(bitsOf(each), bitsOf(sums.front()));
  EXPECT_EQ(bitsOf(sumsOf<T>(way).front()), bitsOf(sums.front())) << "another run";
}

class SumsOf16Bits : public ::testing::TestWithParam<RoundingCase> {};

// By recursive doubling, halving-doubling and a ring; within hosts first, and then between them.
INSTANTIATE_TEST_SUITE_P(OverTcp, SumsOf16Bits,
                         ::testing::Values(RoundingCase{7, true, 0}, RoundingCase{kRoundedElements, true, 0},
                                           RoundingCase{10 * kRoundedElements, true, 0},
                                           RoundingCase{7, false, 2},
                                           RoundingCase{10 * kRoundedElements, false, 2}),
                         [](const auto& param_info) {
                           return std::to_string(param_info.param.count) +
                                  (param_info.param.tcp_only ? "" : "OverHosts");
                         });

TEST_P(SumsOf16Bits, AreNearTheSumAndTheSameEverywhereAndAgain) {
  check<half>(GetParam(), std::ldexp(1, -10));
  check<bfloat16>(GetParam(), std::ldexp(1, -7));
}

}  // namespace
}  // namespace popdist
