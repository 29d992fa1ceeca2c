// SPDX-License-Identifier: Apache-2.0
// Ranks of which some have nothing to give and others expect something: an error in time that names both, in
// every way. Nothing on all of them is no error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/contract/ways.h"
#include "tests/contract/wrong_calls.h"

namespace popdist::contract {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using testing::ThreadGroup;

constexpr int kMembers = 4;

struct Counted {
  const char* name;
  std::function<Call(std::size_t count)> of;
};

Call movingFrom(std::size_t count, const std::function<void(Communicator&, float*, float*)>& move) {
  return [=](Context&, Communicator& world) {
    std::vector<float> in(kMembers * count + 1);
    std::vector<float> out(kMembers * count + 1);
    move(world, in.data(), out.data());
  };
}

const std::vector<Counted>& countedCalls() {
  constexpr Type kFloat = Type::kFloat;
  constexpr Operator kSum = Operator::kSum;
  static const std::vector<Counted> all{
      {"allReduce",
       [](std::size_t n) {
         return movingFrom(n, [=](auto& world, auto in, auto out) { world.allReduce(in, out, n, kFloat); });
       }},
      {"reduceScatter",
       [](std::size_t n) {
         return movingFrom(
             n, [=](auto& world, auto in, auto out) { world.reduceScatter(in, out, n, kFloat, kSum); });
       }},
      {"reduce",
       [](std::size_t n) {
         return movingFrom(
             n, [=](auto& world, auto in, auto out) { world.reduce(in, out, n, kFloat, kSum, 1); });
       }},
      {"allGather",
       [](std::size_t n) {
         return movingFrom(n, [=](auto& world, auto in, auto out) { world.allGather(in, out, n, kFloat); });
       }},
      {"broadcast",
       [](std::size_t n) {
         return movingFrom(n, [=](auto& world, auto in, auto) { world.broadcast(in, n, kFloat, 2); });
       }},
      {"gather",
       [](std::size_t n) {
         return movingFrom(n, [=](auto& world, auto in, auto out) { world.gather(in, out, n, kFloat, 0); });
       }},
      {"scatter",
       [](std::size_t n) {
         return movingFrom(n, [=](auto& world, auto in, auto out) { world.scatter(in, out, n, kFloat, 0); });
       }},
      {"allToAll",
       [](std::size_t n) {
         return movingFrom(n, [=](auto& world, auto in, auto out) { world.allToAll(in, out, n, kFloat); });
       }},
  };
  return all;
}

class EmptyCalls : public ::testing::TestWithParam<Way> {
 protected:
  /// The errors of calls[rank] on each rank, or of the barrier after it: a rank that has had its part before
  /// may learn of it there only. Long before the deadline.
  static std::vector<Reported> reportsOf(const std::vector<Call>& calls) {
    const WayTaken taken(GetParam());
    std::vector<Reported> reports(calls.size());
    testing::GroupShape shape = shapeOf(GetParam(), kMembers);
    shape.timeout = kLongTimeout;
    ThreadGroup group(shape);
    const auto begin = Clock::now();
    group.run([&](Context& context) {
      const auto rank = static_cast<std::size_t>(context.world().rank());
      exchangeOf({1, 1, 1, 1}, {1, 1, 1, 1})(context, context.world());  // all are connected from here on
      reports[rank] = reportOf([&] {
        calls[rank](context, context.world());
        context.world().barrier();
      });
      context.fence();
    });
    EXPECT_LT(Clock::now() - begin, kInTime);
    return reports;
  }

  template <typename Words>
  static void expectRefusals(const std::vector<Call>& calls, const Words& words, const char* what) {
    EXPECT_THAT(reportsOf(calls),
                Each(AllOf(Field(&Reported::code, static_cast<int>(ErrorCode::kFailedPrecondition)),
                           Field(&Reported::what, words))))
        << what;
  }
};

TEST_P(EmptyCalls, OfOneRankAreNamedWhereOthersHaveElements) {
  for (const Counted& call : countedCalls()) {
    for (const std::size_t some : {10U, 300'000U}) {
      const Call full = call.of(some);
      expectRefusals({full, call.of(0), full, full}, HasSubstr("does not match"), call.name);
    }
  }
}

TEST_P(EmptyCalls, OfAllRanksButOneAreNamedWhereThatHasElements) {
  for (const Counted& call : countedCalls()) {
    const Call none = call.of(0);
    expectRefusals({none, none, call.of(10), none}, HasSubstr("does not match"), call.name);
  }
}

TEST_P(EmptyCalls, OfAGatherWithCountsOfEachAreNamed) {
  const Call full = gatherOf({1, 2, 3, 4});
  for (const std::vector<std::size_t>& odd :
       {std::vector<std::size_t>{0, 0, 0, 0}, {0, 0, 3, 0}, {1, 2, 3, 0}, {0, 2, 0, 0}}) {
    expectRefusals({full, full, gatherOf(odd), full}, HasSubstr("does not match"), "one is odd");
  }
  // Each of two sends where the other expects nothing.
  expectRefusals(
      {gatherOf({5, 0, 0, 0}), gatherOf({0, 5, 0, 0}), gatherOf({0, 5, 0, 0}), gatherOf({0, 5, 0, 0})},
      HasSubstr("does not match"), "neither meets the other");
}

TEST_P(EmptyCalls, OfAllRanksAreNoErrors) {
  std::vector<Call> calls(kMembers, [](Context& context, Communicator& world) {
    for (const Counted& call : countedCalls()) call.of(0)(context, world);
    for (const std::vector<std::size_t>& counts :
         {std::vector<std::size_t>{0, 0, 0, 0}, {0, 7, 0, 0}, {3, 0, 2, 0}, {0, 1, 2, 3}})
      gatherOf(counts)(context, world);
    exchangeOf({0, 0, 0, 0}, {0, 0, 0, 0})(context, world);
    float one = 1;
    world.allReduce(&one, &one, 1, Type::kFloat);
    EXPECT_EQ(one, kMembers);
  });
  EXPECT_THAT(reportsOf(calls), Each(Field(&Reported::what, "")));
}

INSTANTIATE_TEST_SUITE_P(Ways, EmptyCalls, ::testing::ValuesIn(allWays()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace popdist::contract
