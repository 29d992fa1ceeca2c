// SPDX-License-Identifier: Apache-2.0
// The communicator's own part: arguments, in-place rules, agreement on them. What the collectives compute is
// tested with the executor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <latch>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "popdist/communicator.hpp"
#include "popdist/error.hpp"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using testing::ThreadGroup;

using CommunicatorCall = std::function<void(Communicator&)>;

void runOnWorld(ThreadGroup& group, const CommunicatorCall& body) {
  group.run([&](Context& context) { body(context.world()); });
}

struct BadCall {
  const char* what;
  CommunicatorCall call;
  const char* message;
};

float kSomething[4] = {};

const BadCall kBadCalls[] = {
    {"sum of bool", [](Communicator& c) { c.allReduceSum(kSomething, 1, Type::kBool); },
     "sum of bool is not supported"},
    {"scattered sum of bool",
     [](Communicator& c) { c.reduceScatter(kSomething, kSomething + 2, 1, Type::kBool); },
     "sum of bool is not supported"},
    {"no such type", [](Communicator& c) { c.broadcast(kSomething, 1, static_cast<Type>(77), 0); },
     "element type"},
    {"null data", [](Communicator& c) { c.allReduceSum(nullptr, 1, Type::kFloat); }, "null pointer"},
    {"null output", [](Communicator& c) { c.allGather(kSomething, nullptr, 1, Type::kFloat); },
     "null pointer"},
    {"null input", [](Communicator& c) { c.reduceScatter(nullptr, kSomething, 1, Type::kFloat); },
     "null pointer"},
    {"null input to all", [](Communicator& c) { c.allToAll(nullptr, kSomething, 1, Type::kFloat); },
     "null pointer"},
    {"root too large", [](Communicator& c) { c.broadcast(kSomething, 1, Type::kFloat, 2); }, "root 2"},
    {"count beyond any memory",
     [](Communicator& c) { c.allReduceSum(kSomething, SIZE_MAX / 4, Type::kFloat); },
     "exceed the address space"},
    {"blocks beyond any memory",
     [](Communicator& c) { c.allGather(nullptr, kSomething, SIZE_MAX / 8, Type::kFloat); },
     "exceed the address space"},
    {"negative root", [](Communicator& c) { c.broadcast(kSomething, 1, Type::kFloat, -1); }, "root -1"},
};

TEST(Communicator, RefusesBadArgumentsAndGoesOn) {
  ThreadGroup group(2);
  runOnWorld(group, [](Communicator& world) {
    for (const BadCall& bad : kBadCalls) {
      try {
        bad.call(world);
        ADD_FAILURE() << bad.what << " was accepted";
      } catch (const popdist_error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << bad.what;
        EXPECT_THAT(error.what(), HasSubstr(bad.message)) << bad.what;
        EXPECT_EQ(error.rank(), world.rank());
        EXPECT_FALSE(error.operation().empty());
      }
    }
    int one = 1;
    world.allReduceSum(std::span(&one, 1));
    EXPECT_EQ(one, 2);
  });
}

TEST(Communicator, TakesNullPointersForNoElements) {
  ThreadGroup group(2);
  runOnWorld(group, [](Communicator& world) {
    world.allReduceSum(nullptr, 0, Type::kFloat);
    world.allGather(nullptr, nullptr, 0, Type::kFloat);
    world.reduceScatter(nullptr, nullptr, 0, Type::kFloat);
    world.allToAll(nullptr, nullptr, 0, Type::kFloat);
    world.broadcast(nullptr, 0, Type::kFloat, 1);
    world.synchronize();
  });
}

TEST(Communicator, GathersABlockThatIsInPlaceAlready) {
  ThreadGroup group(4);
  runOnWorld(group, [](Communicator& world) {
    std::vector<int> all(4 * 100, -1);
    const auto own = static_cast<std::size_t>(world.rank()) * 100;
    std::iota(all.begin() + static_cast<std::ptrdiff_t>(own),
              all.begin() + static_cast<std::ptrdiff_t>(own) + 100, static_cast<int>(own));
    world.allGather(nullptr, all.data(), 100, Type::kInt32);
    for (int i = 0; i < 400; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], i);
  });
}

TEST(Communicator, ScattersASumIntoItsBlockOfTheInput) {
  for (const int members : {1, 2, 3, 5}) {
    ThreadGroup group(members);
    runOnWorld(group, [members](Communicator& world) {
      const auto n = static_cast<std::size_t>(members);
      std::vector<double> data(n * 50);
      std::iota(data.begin(), data.end(), 0.0);
      const std::vector<double> before = data;
      double* const own = data.data() + world.rank() * 50;
      world.reduceScatter(data.data(), own, 50, Type::kDouble);
      for (std::size_t i = 0; i < data.size(); ++i) {
        const bool mine = i / 50 == static_cast<std::size_t>(world.rank());
        ASSERT_EQ(data[i], mine ? members * before[i] : before[i]) << "element " << i;
      }
    });
  }
}

TEST(Communicator, SumsTypedSpans) {
  ThreadGroup group(3);
  runOnWorld(group, [](Communicator& world) {
    std::vector<std::int64_t> data(77, world.rank() + 1);
    world.allReduceSum(std::span(data));
    EXPECT_THAT(data, Each(6));
    world.broadcast(std::span(data).first(5), 2);
  });
}

struct ToldCall {
  const char* words;  ///< of its error
  std::function<void(Communicator&, const CallOptions&)> call;
};

float kNumbers[100] = {};

const ToldCall kToldCalls[] = {
    {"allReduce (sum of 100 float 'weights')",
     [](Communicator& c, const CallOptions& options) {
       c.allReduceSum(std::span<float>(kNumbers), options);
     }},
    {"allReduce (sum of 100 float 'weights')",
     [](Communicator& c, const CallOptions& options) {
       c.allReduceSum(kNumbers, 100, Type::kFloat, options);
     }},
    {"broadcast (100 float 'weights', root 1)",
     [](Communicator& c, const CallOptions& options) {
       c.broadcast(std::span<float>(kNumbers), 1, options);
     }},
    {"the deadline has passed",  // it has no tensor
     [](Communicator& c, const CallOptions& options) { c.synchronize(options); }},
};

TEST(Communicator, TakesOptionsWithTypedSpansAndByPopDistsNames) {
  for (const ToldCall& told : kToldCalls) {
    ThreadGroup group(2);
    group.run([&](Context& context) {
      if (context.instanceIndex() == 0) {
        try {
          told.call(context.world(), {.tensor = "weights", .timeout = std::chrono::milliseconds(10)});
          ADD_FAILURE() << told.words << " did not wait for the other member";
        } catch (const popdist_error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
          EXPECT_THAT(error.what(), HasSubstr(told.words));
        }
      }
      context.fence();
    });
  }
}

TEST(Communicator, SumsFloatsBitIdenticallyOnAllMembersAndInEveryRun) {
  std::vector<std::vector<float>> results(5 * 3);
  for (std::size_t run = 0; run < 3; ++run) {
    ThreadGroup group(5);
    runOnWorld(group, [&](Communicator& world) {
      std::vector<float> data(1001);
      for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] =
            std::ldexp(1.0F + static_cast<float>(i), (world.rank() * 13 + static_cast<int>(i) * 7) % 60 - 30);
      }
      world.allReduceSum(std::span(data));
      results[run * 5 + static_cast<std::size_t>(world.rank())] = data;
    });
  }
  EXPECT_THAT(results, Each(results.front()));
}

// What `calls[rank]` of two members throw.
std::vector<std::string> messagesOf(const std::vector<CommunicatorCall>& calls) {
  std::vector<std::string> messages(calls.size());
  ThreadGroup group(static_cast<int>(calls.size()));
  runOnWorld(group, [&](Communicator& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    try {
      calls[rank](world);
    } catch (const popdist_error& error) {
      if (error.code() == ErrorCode::kFailedPrecondition) messages[rank] = error.what();
    }
  });
  return messages;
}

CommunicatorCall sumOf(std::size_t count) {
  return [count](Communicator& world) {
    std::vector<float> data(count);
    world.allReduceSum(std::span(data));
  };
}

TEST(Communicator, TellsMembersThatTheyPassDifferentCounts) {
  EXPECT_THAT(
      messagesOf({sumOf(10), sumOf(11)}),
      Each(AllOf(HasSubstr("does not match"), HasSubstr("sum of 10 float"), HasSubstr("sum of 11 float"))));
}

TEST(Communicator, TellsMembersThatTheyCallDifferentOperations) {
  const CommunicatorCall gather = [](Communicator& world) {
    std::vector<float> all(2 * 10);
    world.allGather(nullptr, all.data(), 10, Type::kFloat);
  };
  EXPECT_THAT(messagesOf({sumOf(10), gather}), Each(HasSubstr("does not match: it calls all")));
}

// An empty call sends nothing, so it is the next one that shows the difference.
TEST(Communicator, TellsMembersThatTheyHaveMadeDifferentNumbersOfCalls) {
  const CommunicatorCall one_more = [](Communicator& world) {
    sumOf(0)(world);
    sumOf(10)(world);
  };
  EXPECT_THAT(messagesOf({sumOf(10), one_more}),
              Each(HasSubstr("does not match: it calls allReduce (sum of ")));
}

TEST(Communicator, TellsMembersThatTheyNameDifferentRoots) {
  const auto broadcast_from = [](int root) {
    return [root](Communicator& world) {
      float value = 0;
      world.broadcast(&value, 1, Type::kFloat, root);
      world.synchronize();
    };
  };
  // Both send and neither receives; the next call meets the unexpected messages.
  EXPECT_THAT(messagesOf({broadcast_from(0), broadcast_from(1)}), Each(HasSubstr("does not match")));
}

TEST(Communicator, TakesWhateverHasItsElementsInOnePiece) {
  ThreadGroup group(2);
  runOnWorld(group, [](Communicator& c) {
    std::vector<float> vector{1, 2};
    c.allReduce(vector);
    c.allReduceSum(vector);
    EXPECT_THAT(vector, ::testing::ElementsAre(4, 8));
    std::array<std::int64_t, 2> array{c.rank(), 7};
    c.allReduce(array, Operator::kMax);
    EXPECT_THAT(array, ::testing::ElementsAre(1, 7));
    double plain[] = {c.rank() + 0.5, 2};
    c.broadcast(plain, 1);
    EXPECT_THAT(plain, ::testing::ElementsAre(1.5, 2));
    c.allReduce(std::span(plain).first(1));
    EXPECT_THAT(plain, ::testing::ElementsAre(3, 2));
  });
  static_assert(Elements<std::vector<float>&> && Elements<std::span<half>>);
  static_assert(!Elements<std::vector<float>> && !Elements<const std::vector<float>&> &&
                    !Elements<std::span<const float>> && !Elements<std::vector<bool>&>,
                "the result would be nowhere");
}

TEST(TwoThreads, InOneCommunicatorAreRefusedOnAllMembers) {
  ThreadGroup group(2);
  std::latch refused(1);
  group.run([&](Context& context) {
    const auto codeOf = [&](const std::function<void()>& call) {
      try {
        call();
      } catch (const popdist_error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
        EXPECT_THAT(error.what(), HasSubstr("two threads of this process"));
        return true;
      }
      return false;
    };
    int one = 1;
    const auto sum = [&] { context.world().allReduce(std::span(&one, 1)); };
    if (context.instanceIndex() == 1) {
      refused.wait();
      codeOf(sum);  // it was there when the others' call failed, or comes to it
      EXPECT_TRUE(codeOf(sum));
      return;
    }
    // One of the two waits inside for the other member while the other comes, whichever that is.
    std::atomic<int> errors{0};
    const auto count = [&](bool is_refused) {
      if (is_refused && errors++ == 0) refused.count_down();
    };
    {
      const std::jthread other([&] {
        int own = 1;
        count(codeOf([&] { context.world().allReduce(std::span(&own, 1)); }));
      });
      count(codeOf(sum));
    }
    EXPECT_EQ(errors, 2);
  });
}

}  // namespace
}  // namespace popdist
