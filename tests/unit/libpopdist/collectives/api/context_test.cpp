// SPDX-License-Identifier: Apache-2.0
// What a context says of its instance, its deadlines, and the communicators that it makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "popdist/error.hpp"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

using std::chrono::milliseconds;
using testing::GroupShape;
using ::testing::HasSubstr;
using testing::ThreadGroup;

TEST(Context, KnowsItsPlaceAndItsReplicas) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {2, 1, 3}, .ipus_per_replica = 4, .system = "pod64"});
  group.run([](Context& context) {
    const auto me = static_cast<std::size_t>(context.instanceIndex());
    EXPECT_EQ(context.numInstances(), 3);
    EXPECT_EQ(context.localInstanceIndex(), context.instanceIndex());
    EXPECT_EQ(context.numTotalReplicas(), 6);
    EXPECT_EQ(context.numLocalReplicas(), (std::vector{2, 1, 3}[me]));
    EXPECT_EQ(context.replicaIndexOffset(), (std::vector{0, 2, 3}[me]));
    EXPECT_EQ(context.numIpusPerReplica(), 4);
    EXPECT_EQ(context.system(), "pod64");
    EXPECT_FALSE(context.offline());
    EXPECT_EQ(context.world().rank(), context.instanceIndex());
    EXPECT_EQ(context.world().size(), 3);
  });
}

TEST(Context, HasATimeoutOfAtLeastAMillisecond) {
  ThreadGroup group(1);
  group.run([](Context& context) {
    context.setTimeout(milliseconds(1));
    EXPECT_EQ(context.timeout(), milliseconds(1));
    for (const milliseconds wrong : {milliseconds(0), milliseconds(-1), milliseconds::min()}) {
      try {
        context.setTimeout(wrong);
        ADD_FAILURE() << wrong.count() << " ms were accepted";
      } catch (const popdist_error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
        EXPECT_THAT(error.what(), HasSubstr("setTimeout"));
      }
    }
    EXPECT_EQ(context.timeout(), milliseconds(1)) << "a refused timeout changes nothing";
    context.setTimeout(milliseconds::max());
    EXPECT_GT(context.timeout(), std::chrono::hours(24 * 20));
    context.fence();
    context.world().synchronize();
  });
}

TEST(Context, RefusesAKeyWithoutName) {
  ThreadGroup group(1);
  group.run([](Context& context) {
    try {
      context.put("", "value");
      ADD_FAILURE() << "accepted";
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    }
  });
}

TEST(Context, DoesNotAbortWithACodeThatIsNone) {
  ThreadGroup group(1);
  group.run([](Context& context) {
    for (const int code : {0, -1, 256}) {
      try {
        context.abort(code, "enough");
      } catch (const popdist_error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
        EXPECT_THAT(error.what(), HasSubstr("exit code " + std::to_string(code)));
      }
    }
  });
}

TEST(Context, AppliesATimeoutToCommunicatorsThatExist) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    if (context.instanceIndex() == 1) return;
    context.setTimeout(milliseconds(20));
    try {
      context.world().synchronize();
      ADD_FAILURE() << "released";
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
      EXPECT_EQ(error.peer(), 1);
      EXPECT_EQ(error.operation(), "barrier");
    }
  });
}

// The sum of members' instance indices tells who took part.
int sumOfMembers(Context& context, Communicator& communicator) {
  int sum = context.instanceIndex() + 1;
  communicator.allReduceSum(std::span(&sum, 1));
  return sum - communicator.size();
}

TEST(CreateCommunicator, RanksMembersByInstanceAndGivesOthersNothing) {
  ThreadGroup group(6);
  group.run([](Context& context) {
    const auto some = context.createCommunicator({5, 1, 3});
    const int me = context.instanceIndex();
    ASSERT_EQ(some != nullptr, me % 2 == 1);
    if (some == nullptr) return;
    EXPECT_EQ(some->size(), 3);
    EXPECT_EQ(some->rank(), me / 2);
    EXPECT_EQ(sumOfMembers(context, *some), 9);
    std::vector<int> all(3);
    some->allGather(&me, all.data(), 1, Type::kInt32);
    EXPECT_EQ(all, (std::vector{1, 3, 5}));
  });
}

TEST(CreateCommunicator, OfOneMemberWorks) {
  ThreadGroup group(3);
  group.run([](Context& context) {
    const auto alone = context.createCommunicator({2});
    ASSERT_EQ(alone != nullptr, context.instanceIndex() == 2);
    if (alone != nullptr) {
      EXPECT_EQ(sumOfMembers(context, *alone), 2);
    }
  });
}

TEST(CreateCommunicator, KeepsSeveralApart) {
  ThreadGroup group(4);
  group.run([](Context& context) {
    const auto low = context.createCommunicator({0, 1});
    const auto high = context.createCommunicator({2, 3});
    const auto all = context.createCommunicator({0, 1, 2, 3});
    Communicator& own = low != nullptr ? *low : *high;
    for (int turn = 0; turn < 20; ++turn) {
      EXPECT_EQ(sumOfMembers(context, own), context.instanceIndex() < 2 ? 1 : 5);
      EXPECT_EQ(sumOfMembers(context, *all), 6);
      EXPECT_EQ(sumOfMembers(context, context.world()), 6);
    }
  });
}

TEST(CreateCommunicator, RefusesInstancesThatAreNotThere) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    for (const auto& [wrong, why] : {std::pair(std::set<unsigned>{}, "the set is empty"),
                                     std::pair(std::set<unsigned>{0, 2}, "2 does not exist")}) {
      try {
        context.createCommunicator(wrong);
        ADD_FAILURE() << wrong.size() << " participants were accepted";
      } catch (const popdist_error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
        EXPECT_THAT(error.what(), AllOf(HasSubstr("0 to 1"), HasSubstr(why)));
      }
    }
    EXPECT_NE(context.createCommunicator({0, 1}), nullptr);
  });
}

// How many communicators each of three instances has made when the shared memory is full.
std::array<int, 3> communicatorsIn(std::size_t segment_bytes) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1, 1}, .segment_bytes = segment_bytes});
  std::array<int, 3> made{};
  group.run([&](Context& context) {
    int& own = made[static_cast<std::size_t>(context.instanceIndex())];
    std::vector<std::unique_ptr<Communicator>> kept;
    try {
      for (;; ++own) kept.push_back(context.createCommunicator({0, 1, 2}));
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("segment is full"));
    }
    EXPECT_EQ(sumOfMembers(context, context.world()), 3);
  });
  return made;
}

// Whoever finds no room tells the others, instead of leaving them to their deadline. Of these sizes, some
// have room for all, some for two, some for one member more.
TEST(CreateCommunicator, FailsOnAllMembersWhenTheSharedMemoryIsFull) {
  for (std::size_t quarter_mebibytes = 240; quarter_mebibytes < 252; ++quarter_mebibytes) {
    const std::array<int, 3> made = communicatorsIn(quarter_mebibytes << 18);
    EXPECT_GT(made[0], 0);
    EXPECT_EQ(made[1], made[0]);
    EXPECT_EQ(made[2], made[0]);
  }
}

TEST(CreateCommunicator, GivesANumberToCallsThatGoWrongToo) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    EXPECT_THROW(context.createCommunicator({7}), popdist_error);
    const auto first = context.createCommunicator({0, 1});
    EXPECT_THROW(context.createCommunicator({}), popdist_error);
    const auto second = context.createCommunicator({0, 1});
    EXPECT_EQ(sumOfMembers(context, *first) + sumOfMembers(context, *second), 2);
  });
}

}  // namespace
}  // namespace popdist
