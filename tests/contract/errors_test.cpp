// SPDX-License-Identifier: Apache-2.0
// What ranks of a host are told when their calls do not fit together, when somebody does not come, and when
// arguments are wrong: an error in time that says what is wrong, on all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "popdist/buffer.hpp"
#include "popdist/error.hpp"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using testing::GroupShape;
using ::testing::HasSubstr;
using testing::ThreadGroup;

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;
using Call = std::function<void(Context&, Communicator&)>;

constexpr Milliseconds kLongTimeout{20'000};
constexpr Milliseconds kInTime{5'000};  // on a busy machine with a sanitizer

struct Reported {
  int code = 0;
  int peer = -1;
  std::string what;
};

Reported reportOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const popdist_error& error) {
    return {static_cast<int>(error.code()), error.peer(), error.what()};
  }
  return {};
}

// What calls[rank] throws on each rank. Long before the deadline.
std::vector<Reported> reportsOf(const std::vector<Call>& calls) {
  std::vector<Reported> reports(calls.size());
  ThreadGroup group(
      GroupShape{.replicas_of_instance = std::vector<int>(calls.size(), 1), .timeout = kLongTimeout});
  const auto begin = Clock::now();
  group.run([&](Context& context) {
    const auto rank = static_cast<std::size_t>(context.world().rank());
    reports[rank] = reportOf([&] { calls[rank](context, context.world()); });
    EXPECT_EQ(reportOf([&] { context.world().synchronize(); }).code,
              static_cast<int>(ErrorCode::kFailedPrecondition))
        << "the communicator must be of no use after: " << reports[rank].what;
  });
  EXPECT_LT(Clock::now() - begin, kInTime);
  return reports;
}

Call sumOf(std::size_t count, Operator op = Operator::kSum, Type type = Type::kInt32,
           const char* tensor = "") {
  return [=](Context&, Communicator& world) {
    std::vector<std::int64_t> data(count);
    world.allReduce(data.data(), data.data(), count, type, op, {.tensor = tensor});
  };
}

Call broadcastOf(std::size_t count, int root) {
  return [=](Context&, Communicator& world) {
    std::vector<float> data(count);
    world.broadcast(std::span(data), root);
  };
}

Call sharedSumOf(std::size_t count) {
  return [=](Context& context, Communicator& world) {
    const Buffer data(context, count * sizeof(float));
    world.allReduce(data.data(), data.data(), count, Type::kFloat);
  };
}

Call gatherOf(std::vector<std::size_t> counts) {
  return [=](Context&, Communicator& world) {
    std::vector<float> all(100'000);
    world.allGather(nullptr, all.data(), counts, Type::kFloat);
  };
}

Call inTurn(const Call& first, const Call& second) {
  return [=](Context& context, Communicator& world) {
    first(context, world);
    second(context, world);
  };
}

struct Mismatch {
  const char* what;
  Call odd;    // of rank 1
  Call other;  // of all others
  const char* odd_words;
  const char* other_words;
};

const std::vector<Mismatch>& mismatches() {
  static const std::vector<Mismatch> all{
      {"count", sumOf(3), sumOf(4), "sum of 3 int32", "sum of 4 int32"},
      {"count of more", sumOf(3), sumOf(40'000), "sum of 3 int32", "sum of 40000 int32"},
      {"large count", sumOf(1'000'000), sumOf(1'000'001), "1000000 int32", "1000001 int32"},
      {"type", sumOf(3, Operator::kSum, Type::kInt64), sumOf(3), "3 int64", "3 int32"},
      {"operator", sumOf(3000, Operator::kMax), sumOf(3000), "max of 3000", "sum of 3000"},
      {"operation", broadcastOf(3, 0), sumOf(3), "broadcast (3 float, root 0)", "allReduce (sum of 3 int32)"},
      {"root", broadcastOf(50'000, 1), broadcastOf(50'000, 0), "root 1", "root 0"},
      {"order", inTurn(sumOf(3), broadcastOf(5, 0)), inTurn(broadcastOf(5, 0), sumOf(3)),
       "broadcast (5 float", "allReduce (sum of 3"},
      {"memory and count", sumOf(70'000), sharedSumOf(70'001), "70000 int32", "70001 float"},
      {"count in shared memory", sharedSumOf(70'000), sharedSumOf(70'001), "70000 float", "70001 float"},
      {"counts of each", gatherOf({1, 2, 3}), gatherOf({1, 2, 4}), "allGather (counts of each rank float)",
       "allGather (counts of each rank float)"},
      {"tensor", sumOf(3, Operator::kSum, Type::kInt32, "weights"),
       sumOf(4, Operator::kSum, Type::kInt32, "bias"), "'weights'", "'bias'"},
      {"a barrier", [](Context&, Communicator& world) { world.barrier(); }, sumOf(100'000), "synchronize",
       "sum of 100000"},
  };
  return all;
}

TEST(MismatchedCalls, AreNamedOnEveryRank) {
  for (const Mismatch& mismatch : mismatches()) {
    const std::vector<Reported> reports = reportsOf({mismatch.other, mismatch.odd, mismatch.other});
    EXPECT_THAT(reports, Each(AllOf(Field(&Reported::code, static_cast<int>(ErrorCode::kFailedPrecondition)),
                                    Field(&Reported::what, HasSubstr(mismatch.odd_words)),
                                    Field(&Reported::what, HasSubstr(mismatch.other_words)))))
        << mismatch.what << ": " << reports[0].what << " / " << reports[1].what << " / " << reports[2].what;
  }
}

// The name is of this call, not of one before it.
TEST(MismatchedCalls, AreNamedWithTheirOwnTensor) {
  const Call named = sumOf(50'000, Operator::kSum, Type::kInt32, "earlier");
  const Call empty = sumOf(1);
  const std::vector<Reported> reports =
      reportsOf({inTurn(inTurn(named, empty), sumOf(3)), inTurn(inTurn(named, empty), sumOf(4))});
  for (const Reported& report : reports) {
    EXPECT_THAT(report.what, HasSubstr("sum of 3 int32"));
    EXPECT_THAT(report.what, ::testing::Not(HasSubstr("earlier")));
  }
}

Call exchangeOf(std::vector<std::size_t> to, std::vector<std::size_t> from) {
  return [=](Context&, Communicator& world) {
    std::vector<float> in(1000);
    std::vector<float> out(1000);
    world.allToAll(in.data(), to, out.data(), from, Type::kFloat);
  };
}

TEST(MismatchedCalls, OfAnExchangeWhoseCountsContradictAreNamedOnEveryRank) {
  const Call fits = exchangeOf({5, 5, 5}, {5, 5, 5});
  const std::vector<Reported> reports = reportsOf({fits, exchangeOf({5, 5, 5}, {7, 5, 5}), fits});
  EXPECT_THAT(reports, Each(Field(&Reported::code, static_cast<int>(ErrorCode::kFailedPrecondition))));
  EXPECT_THAT(reports[1].what, HasSubstr("rank 0 does not match: it sends 5 elements to this rank, which "
                                         "expects 7"));
  EXPECT_THAT(reports[2].what, AllOf(HasSubstr("rank 1 has given up"), HasSubstr("sends 5 elements")));
}

TEST(LateRank, IsNamedAtTheDeadlineOfTheCall) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1, 1}, .timeout = kLongTimeout});
  group.run([](Context& context) {
    Communicator& world = context.world();
    std::vector<float> data(100);
    world.allReduce(std::span(data));
    if (world.rank() != 2) {
      const auto begin = Clock::now();
      const Reported report = reportOf([&] {
        world.allReduce(std::span(data), Operator::kSum, {.tensor = "grad", .timeout = Milliseconds(100)});
      });
      EXPECT_LT(Clock::now() - begin, kInTime);
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kDeadlineExceeded)) << report.what;
      EXPECT_THAT(report.what, AllOf(HasSubstr("waiting for rank 2"), HasSubstr("it has not come to call 2"),
                                     HasSubstr("its last was call 1, allReduce (sum of 100 float)")));
      EXPECT_EQ(report.peer, 2) << report.what;
      EXPECT_THAT(reportOf([&] { world.synchronize(); }).what,
                  AllOf(HasSubstr("an earlier call on this communicator failed"), HasSubstr("rank 2")));
    }
    context.fence();
  });
}

// Others have been told that the call failed, and may use their memory for something else.
TEST(LateRank, DoesNotWriteWhereOthersHaveGivenUp) {
  constexpr std::size_t kCount = 100'000;
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1}, .timeout = kLongTimeout});
  group.run([](Context& context) {
    Communicator& world = context.world();
    const Buffer data(context, kCount * sizeof(float));
    const auto sum = [&](Milliseconds timeout) {
      return reportOf([&] {
        world.allReduce(data.data(), data.data(), kCount, Type::kFloat, Operator::kSum, {.timeout = timeout});
      });
    };
    std::fill_n(data.as<float>(), kCount, 1.0F);
    if (world.rank() == 0) {
      EXPECT_EQ(sum(Milliseconds(50)).code, static_cast<int>(ErrorCode::kDeadlineExceeded));
      std::fill_n(data.as<float>(), kCount, 7.0F);
    }
    context.fence();
    if (world.rank() == 1) {
      EXPECT_THAT(sum(kLongTimeout).what, HasSubstr("rank 0 has given up"));
    }
    context.fence();
    EXPECT_EQ(std::count(data.as<float>(), data.as<float>() + kCount, world.rank() == 0 ? 7.0F : 1.0F),
              static_cast<std::ptrdiff_t>(kCount));
  });
}

// Of every size: in the notes, in the stages at once, chunk by chunk, in place.
TEST(LateRank, IsToldThatOthersHaveGivenUp) {
  for (const std::size_t count : {1U, 1000U, 1'000'000U}) {
    ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1}, .timeout = kLongTimeout});
    group.run([count](Context& context) {
      Communicator& world = context.world();
      std::vector<float> data(count);
      if (world.rank() == 0) {
        const CallOptions soon{.timeout = Milliseconds(30)};
        EXPECT_EQ(reportOf([&] { world.allReduce(std::span(data), Operator::kSum, soon); }).code,
                  static_cast<int>(ErrorCode::kDeadlineExceeded));
      }
      context.fence();
      if (world.rank() == 1) {
        const auto begin = Clock::now();
        const Reported report = reportOf([&] {
          world.allReduce(std::span(data));  // may find all that it needs
          world.synchronize();
        });
        EXPECT_THAT(report.what, HasSubstr("rank 0 has given up"));
        EXPECT_LT(Clock::now() - begin, kInTime);
      }
    });
  }
}

TEST(EndedRank, IsNamedWhereverItIsMissed) {
  for (const std::size_t count : {1U, 1000U, 1'000'000U}) {
    ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1, 1}, .timeout = kLongTimeout});
    group.run([&](Context& context) {
      std::vector<float> data(count);
      context.world().allReduce(std::span(data));
      if (context.instanceIndex() == 1) {
        group.end(1, false, "instance 1 (pid 7) was killed by SIGKILL");
        return;
      }
      const Reported report = reportOf([&] { context.world().allReduce(std::span(data)); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kUnavailable));
      EXPECT_EQ(report.peer, 1);
      EXPECT_THAT(report.what, HasSubstr("instance 1 (pid 7) was killed by SIGKILL"));
    });
  }
}

TEST(EndedRank, ThatHasDoneItsPartIsNotMissed) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1, 1}, .timeout = kLongTimeout});
  group.run([&](Context& context) {
    std::vector<float> data(1000, 1.0F);
    if (context.instanceIndex() == 1) {
      context.world().allReduce(std::span(data));
      group.end(1, true, "instance 1 exited with code 0");
      return;
    }
    context.world().allReduce(std::span(data));
    EXPECT_THAT(data, Each(3.0F));
  });
}

constexpr std::size_t kHuge = SIZE_MAX / 2;

TEST(WrongArguments, OfThisRankAloneLeaveTheCommunicatorUsable) {
  const std::vector<std::pair<const char*, Call>> calls{
      {"counts for 2 ranks", gatherOf({1, 2})},
      {"counts for no rank", gatherOf({})},
      {"counts beyond memory", gatherOf({kHuge, kHuge, kHuge})},
      {"ragged gather to nowhere",
       [](Context&, Communicator& world) {
         const std::vector<std::size_t> counts{1, 2, 3};
         world.allGather(nullptr, nullptr, counts, Type::kFloat);
       }},
      {"ragged gather from nowhere, with a block of its own",
       [](Context&, Communicator& world) {
         const std::vector<std::size_t> counts{1, 2, 3};
         std::vector<float> in(3);
         world.allGather(in.data(), nullptr, counts, Type::kFloat);
       }},
      {"received counts for no rank", exchangeOf({1, 1, 1}, {})},
      {"sent counts for no rank", exchangeOf({}, {1, 1, 1})},
      {"received counts for 2 ranks", exchangeOf({1, 1, 1}, {1, 1})},
      {"ragged exchange from nowhere",
       [](Context&, Communicator& world) {
         const std::vector<std::size_t> counts{1, 2, 3};
         std::vector<float> out(6);
         world.allToAll(nullptr, counts, out.data(), counts, Type::kFloat);
       }},
      {"ragged exchange to nowhere",
       [](Context&, Communicator& world) {
         const std::vector<std::size_t> counts{1, 2, 3};
         std::vector<float> in(6);
         world.allToAll(in.data(), counts, nullptr, counts, Type::kFloat);
       }},
      {"huge count", [](Context&, Communicator& world) { world.broadcast(&world, kHuge, Type::kFloat, 0); }},
      {"no such operator", sumOf(3, static_cast<Operator>(99))},
      {"mean of integers", sumOf(3, Operator::kMean)},
      {"bitwise operator of floats", sumOf(3, Operator::kBitXor, Type::kFloat)},
      {"no time", [](Context&, Communicator& world) { world.barrier({.timeout = Milliseconds(0)}); }},
  };
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1, 1}, .timeout = kLongTimeout});
  group.run([&](Context& context) {
    for (const auto& [what, call] : calls) {
      const Reported report = reportOf([&, &refused = call] { refused(context, context.world()); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kInvalidArgument)) << what << ": " << report.what;
      std::vector<int> one{1};
      context.world().allReduce(std::span(one));
      ASSERT_EQ(one[0], 3) << what;
    }
  });
}

TEST(ForcedWay, ThatDoesNotExistIsRefused) {
  ::setenv("POPDIST_SHARED_ALGORITHM", "fastest", 1);
  ThreadGroup group(1);
  const Reported report = reportOf([&] { group.run([](Context&) {}); });
  ::unsetenv("POPDIST_SHARED_ALGORITHM");
  EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kInvalidArgument));
  EXPECT_THAT(report.what, HasSubstr("POPDIST_SHARED_ALGORITHM"));
  EXPECT_THAT(report.what, HasSubstr("eager, staged, direct, messages"));
}

TEST(ForcedWay, OfMessagesRefusesWhatTheyCannotDo) {
  ::setenv("POPDIST_SHARED_ALGORITHM", "messages", 1);
  ThreadGroup group(2);
  group.run([](Context& context) {
    for (const Call& call : {sumOf(3, Operator::kMax), exchangeOf({1, 1}, {1, 1})}) {
      EXPECT_EQ(reportOf([&] { call(context, context.world()); }).code,
                static_cast<int>(ErrorCode::kUnimplemented));
    }
  });
  ::unsetenv("POPDIST_SHARED_ALGORITHM");
}

TEST(Timeout, MayBeAsLongAsCanBeSaid) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    std::vector<float> data(100'000, 1.0F);
    const CallOptions for_ever{.timeout = Milliseconds::max()};
    for (int call = 0; call < 20; ++call) {
      if (context.instanceIndex() == 1) std::this_thread::yield();
      context.world().allReduce(std::span(data), Operator::kMax, for_ever);
    }
    EXPECT_THAT(data, Each(1.0F));
  });
}

}  // namespace
}  // namespace popdist
