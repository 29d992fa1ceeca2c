// SPDX-License-Identifier: Apache-2.0
// The types that HPUStrategy's calls carry, and its calls by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "popdist/strategy.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/thread_group.h"

namespace popdist::train {
namespace {

using HpuCall = HpuStrategy::Call;
using popdist::testing::errorCodeOf;
using popdist::testing::ThreadGroup;

struct Row {
  Type type;
  const char* calls;      ///< R(educe), S(end), V (receive), G(ather)
  const char* converted;  ///< the same with bfloat16_conversion
};

constexpr std::array kTable{
    Row{Type::kBool, "", ""},   Row{Type::kInt8, "", ""},          Row{Type::kUint8, "", ""},
    Row{Type::kInt16, "", ""},  Row{Type::kUint16, "", ""},        Row{Type::kInt32, "SVG", "SVG"},
    Row{Type::kUint32, "", ""}, Row{Type::kInt64, "SVG", "SVG"},   Row{Type::kUint64, "", ""},
    Row{Type::kHalf, "G", "G"}, Row{Type::kBfloat16, "R", "RSVG"}, Row{Type::kFloat, "RSVG", "RSVG"},
    Row{Type::kDouble, "", ""},
};

TEST(HpuStrategy, CarriesTheTypesOfItsTable) {
  constexpr std::array<std::pair<HpuCall, char>, 5> kCalls{{{HpuCall::kReduce, 'R'},
                                                            {HpuCall::kBroadcastSend, 'S'},
                                                            {HpuCall::kBroadcastReceive, 'V'},
                                                            {HpuCall::kAllGather, 'G'},
                                                            {HpuCall::kAllToAll, 'A'}}};
  for (const Row& row : kTable) {
    for (const auto& [call, letter] : kCalls) {
      const bool plain = std::string(row.calls).find(letter) != std::string::npos;
      const bool converted = std::string(row.converted).find(letter) != std::string::npos;
      EXPECT_EQ(HpuStrategy::supports(call, row.type, {}), plain) << nameOf(row.type) << ' ' << letter;
      EXPECT_EQ(HpuStrategy::supports(call, row.type, {.bfloat16_conversion = true}), converted)
          << nameOf(row.type) << ' ' << letter;
    }
  }
}

TEST(HpuStrategy, ReducesBroadcastsAndGathersByHand) {
  ThreadGroup group(3);
  group.run([](Context& context) {
    HpuStrategy strategy(context);
    const int self = context.instanceIndex();
    std::vector<float> sum{static_cast<float>(self + 1), 10};
    strategy.reduce(sum.data(), sum.size(), Type::kFloat);
    EXPECT_THAT(sum, ::testing::ElementsAre(6, 30));
    std::vector<std::int64_t> sent{7, 8};
    std::vector<std::int64_t> received(2);
    if (self == 0) strategy.broadcastSend(sent.data(), 2, Type::kInt64);
    if (self != 0) {
      strategy.broadcastReceive(received.data(), 2, Type::kInt64);
      EXPECT_THAT(received, ::testing::ElementsAre(7, 8));
    }
    std::vector<std::int32_t> all(3);
    strategy.allGather(&self, all.data(), 1, Type::kInt32);
    EXPECT_THAT(all, ::testing::ElementsAre(0, 1, 2));
  });
}

TEST(HpuStrategy, RefusesOtherTypesAndWrongEnds) {
  Context& context = Context::fromEnvironment();
  HpuStrategy strategy(context);
  double value = 1;
  EXPECT_EQ(errorCodeOf([&] { strategy.reduce(&value, 1, Type::kDouble); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { strategy.broadcastSend(&value, 1, Type::kBfloat16); }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { strategy.broadcastReceive(&value, 1, Type::kFloat); }),
            ErrorCode::kFailedPrecondition);
  std::vector<FlatTensors> gradients;
  gradients.emplace_back(context, Spec{{"w", Type::kHalf, {3}}});
  EXPECT_EQ(errorCodeOf([&] { static_cast<void>(strategy.reductionOf(gradients)); }),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace popdist::train
