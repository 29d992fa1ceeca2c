// SPDX-License-Identifier: Apache-2.0
// The names in errors, in every way: the operation, the tensor, the rank that is told, with its instance and
// host, and the same of the one that is to blame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <string>
#include <typeinfo>
#include <vector>

#include "common/sys/host_name.h"
#include "tests/contract/ways.h"
#include "tests/contract/wrong_calls.h"

namespace popdist::contract {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::ThreadGroup;

constexpr int kInstances = 4;
constexpr int kOdd = 2;
constexpr Milliseconds kSoon{300};  // another rank that is late by so much may be blamed instead

class ErrorWords : public ::testing::TestWithParam<Way> {
 protected:
  ErrorWords() : taken_(GetParam()) {}

  testing::GroupShape shape() const {
    testing::GroupShape shape = shapeOf(GetParam(), kInstances);
    shape.timeout = kLongTimeout;
    return shape;
  }

  /// A rank in words. As instances of a way over hosts see it, others are at their host's address.
  auto named(int rank, int by) const {
    const int per_host = GetParam().instances_per_host;
    const bool near = per_host == 0 || rank / per_host == by / per_host;
    return "rank " + std::to_string(rank) + " (instance " + std::to_string(rank) + " on " +
           (near ? pop::sys::hostName() : "127.0.0.1") + ")";
  }

  /// Unless it is this one, which is named as the one that is told.
  static void expectBlamedIsNamed(const Reported& report, int own) {
    if (report.peer < 0 || report.peer == own) return;
    EXPECT_THAT(report.what, ContainsRegex("instance " + std::to_string(report.peer) + " on [^ ]+"))
        << "rank " << own << ", peer " << report.peer;
  }

  static Reported sumOf(Communicator& world, std::size_t count, const char* tensor,
                        Milliseconds timeout = kLongTimeout) {
    std::vector<float> data(count);
    return reportOf([&] {
      world.allReduce(data.data(), data.data(), count, Type::kFloat, Operator::kSum,
                      {.tensor = tensor, .timeout = timeout});
    });
  }

 private:
  const WayTaken taken_;
};

// The part of an error that every rank is told, whatever has happened.
auto isToldOf(const std::string& own, const char* call) {
  return HasSubstr(std::string(call) + " on " + own + ": ");
}

TEST_P(ErrorWords, OfADeadlineNameWhoIsWaitedForAndWhereThatIs) {
  for (const std::size_t count : {3U, 300'000U}) {
    const std::string call = "allReduce (sum of " + std::to_string(count) + " float 'grad')";
    ThreadGroup group(shape());
    group.run([&](Context& context) {
      Communicator& world = context.world();
      world.barrier();
      if (world.rank() != kOdd) {
        const Reported report = sumOf(world, count, "grad", kSoon);
        EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kDeadlineExceeded)) << report.what;
        EXPECT_THAT(report.what, isToldOf(named(world.rank(), world.rank()), call.c_str()));
        EXPECT_THAT(report.what,
                    ContainsRegex("the deadline has passed, waiting for rank [0-3] \\(instance [0-3] "
                                  "on [^ ]+\\)"));
        EXPECT_THAT(report.what, AnyOf(HasSubstr("it has not entered call"),
                                       HasSubstr("has sent nothing for call"), HasSubstr("it is in")));
      }
      context.fence();
    });
  }
}

TEST_P(ErrorWords, OfADeathNameItAndWhoIsTold) {
  ThreadGroup group(shape());
  std::latch well(kInstances);
  group.run([&](Context& context) {
    Communicator& world = context.world();
    world.barrier();
    well.arrive_and_wait();
    if (world.rank() == kOdd) return group.end(kOdd, false, "instance 2 (pid 7) was killed by SIGKILL");
    const Reported report = sumOf(world, 1000, "grad");
    EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kUnavailable)) << report.what;
    EXPECT_THAT(report.what,
                isToldOf(named(world.rank(), world.rank()), "allReduce (sum of 1000 float 'grad')"));
    EXPECT_THAT(report.what, AllOf(HasSubstr("rank 2 (instance 2"),
                                   HasSubstr("is lost: instance 2 (pid 7) was killed by SIGKILL")));
  });
}

TEST_P(ErrorWords, OfAMismatchNameBothCalls) {
  ThreadGroup group(shape());
  group.run([&](Context& context) {
    Communicator& world = context.world();
    exchangeOf({1, 1, 1, 1}, {1, 1, 1, 1})(context, world);  // all are connected from here on
    const bool odd = world.rank() == kOdd;
    const Reported report = reportOf([&] {
      std::vector<float> data(1000);
      if (odd)
        world.broadcast(data.data(), data.size(), Type::kFloat, 1, {.tensor = "weights"});
      else
        world.allReduce(data.data(), data.data(), 1000, Type::kFloat, Operator::kSum, {.tensor = "bias"});
      world.barrier();
    });
    EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kFailedPrecondition)) << report.what;
    EXPECT_THAT(report.what, AllOf(HasSubstr(" on " + named(world.rank(), world.rank()) + ": "),
                                   HasSubstr("broadcast (1000 float 'weights', root 1)"),
                                   HasSubstr("allReduce (sum of 1000 float 'bias')")));
    expectBlamedIsNamed(report, world.rank());
    context.fence();
  });
}

TEST_P(ErrorWords, OfWrongArgumentsNameTheTensorAndWhoIsTold) {
  ThreadGroup group(shape());
  group.run([&](Context& context) {
    Communicator& world = context.world();
    const std::string own = named(world.rank(), world.rank());
    const Reported report = reportOf(
        [&] { world.allReduce(nullptr, nullptr, 1000, Type::kFloat, Operator::kSum, {.tensor = "grad"}); });
    EXPECT_EQ(report.what, "allReduce 'grad' on " + own + ": a buffer is a null pointer");
    EXPECT_EQ(report.peer, -1);
    const Reported no_time = reportOf([&] { world.barrier({.tensor = "step", .timeout = Milliseconds(0)}); });
    EXPECT_THAT(no_time.what, EndsWith("'step' on " + own + ": the timeout must be at least a millisecond"));
    world.barrier();
  });
}

// A contradiction that only two of the ranks can see.
TEST_P(ErrorWords, OfCountsThatContradictNameWhoIsToBlame) {
  const Call exchange = [](Context& context, Communicator& world) {
    const bool odd = world.rank() == kOdd;
    exchangeOf({1, 1, 1, 1}, odd ? std::vector<std::size_t>{1, 2, 1, 1}
                                 : std::vector<std::size_t>{1, 1, 1, 1})(context, world);
    world.barrier();
  };
  const Call transfer = [](Context& context, Communicator& world) {
    const bool odd = world.rank() == kOdd;
    transferOf(1, odd ? 0 : kNobody, 1, kNobody)(context, world);
  };
  for (const Call& call : {exchange, transfer}) {
    ThreadGroup group(shape());
    group.run([&](Context& context) {
      Communicator& world = context.world();
      exchangeOf({1, 1, 1, 1}, {1, 1, 1, 1})(context, world);  // all are connected from here on
      const Reported report = reportOf([&] { call(context, world); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kFailedPrecondition)) << report.what;
      EXPECT_GE(report.peer, 0) << report.what;
      expectBlamedIsNamed(report, world.rank());
      context.fence();
    });
  }
}

// An uncaught one is named by its type.
TEST(Error, OfACallIsTheOneThatUsersKnowAndHasItsCause) {
  ThreadGroup group(1);
  group.run([](Context& context) {
    try {
      context.world().allReduceSum(nullptr, 1, Type::kFloat);
      ADD_FAILURE() << "not refused";
    } catch (const std::exception& error) {
      ASSERT_TRUE(typeid(error) == typeid(popdist_error)) << typeid(error).name();
      EXPECT_STREQ(static_cast<const popdist_error&>(error).cause(), "a buffer is a null pointer");
    }
  });
  EXPECT_STREQ(popdist_error(ErrorCode::kUnknown, "all of it").cause(), "all of it");
}

INSTANTIATE_TEST_SUITE_P(Ways, ErrorWords, ::testing::ValuesIn(allWays()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace popdist::contract
