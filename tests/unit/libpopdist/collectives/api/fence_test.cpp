// SPDX-License-Identifier: Apache-2.0
// put, get and fence between instances.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <string>

#include "popdist/error.hpp"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

using std::chrono::milliseconds;
using testing::GroupShape;
using testing::ThreadGroup;

TEST(Fence, MakesWhatEverybodyPutVisibleToEverybody) {
  ThreadGroup group(5);
  group.run([](Context& context) {
    context.put("from " + std::to_string(context.instanceIndex()),
                std::to_string(context.instanceIndex() * 11));
    context.fence();
    for (int instance = 0; instance < 5; ++instance) {
      EXPECT_EQ(context.get("from " + std::to_string(instance)), std::to_string(instance * 11));
    }
  });
}

TEST(Fence, IsWhatMakesAValueVisible) {
  ThreadGroup group(2);
  std::latch put(2);
  group.run([&](Context& context) {
    if (context.instanceIndex() == 0) context.put("key", "value");
    put.arrive_and_wait();
    EXPECT_EQ(context.get("key"), std::nullopt);
    context.world().synchronize();  // no fence
    EXPECT_EQ(context.get("key"), std::nullopt);
    context.fence();
    EXPECT_EQ(context.get("key"), "value");
  });
}

// Else a communicator would take them for addresses of its ranks.
TEST(Put, RefusesKeysOfTheLibraryItself) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    for (const char* const value : {"", "value"}) {
      try {
        context.put("popdist/group/1/0", value);
        ADD_FAILURE() << "it was accepted";
      } catch (const popdist_error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
        EXPECT_NE(std::string(error.what()).find("'popdist/group/1/0'"), std::string::npos) << error.what();
      }
    }
    context.put("popdist", "value");
    EXPECT_NE(context.createCommunicator({0, 1}), nullptr);
    EXPECT_EQ(context.get("popdist"), "value");
  });
}

TEST(Fence, ReplacesAValueWithThatOfALaterPut) {
  ThreadGroup group(3);
  group.run([](Context& context) {
    if (context.instanceIndex() == 0) context.put("key", "old");
    context.fence();
    EXPECT_EQ(context.get("key"), "old");
    context.fence();
    if (context.instanceIndex() == 1) {
      context.put("key", "newer");
      context.put("key", "newest");
    }
    context.fence();
    EXPECT_EQ(context.get("key"), "newest");
  });
}

TEST(Fence, KeepsValuesThroughLaterFences) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    context.put("kept", "");
    for (int turn = 0; turn < 10; ++turn) context.fence();
    EXPECT_EQ(context.get("kept"), "");
    EXPECT_EQ(context.get("never put"), std::nullopt);
  });
}

TEST(Fence, CarriesAnyBytes) {
  ThreadGroup group(2);
  std::string value(300'000, '\0');
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(i % 256);
  group.run([&](Context& context) {
    if (context.instanceIndex() == 1) context.put(std::string("k\0y", 3), value);
    context.fence();
    EXPECT_EQ(context.get(std::string("k\0y", 3)), value);
  });
}

TEST(Fence, ReleasesNobodyBeforeAllHaveEntered) {
  ThreadGroup group(4);
  std::atomic<int> entered = 0;
  group.run([&](Context& context) {
    for (int turn = 1; turn <= 100; ++turn) {
      ++entered;
      context.fence();
      ASSERT_GE(entered.load(), 4 * turn);
    }
  });
}

TEST(Fence, HasADeadline) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1}, .timeout = milliseconds(30)});
  std::latch over(1);
  group.run([&](Context& context) {
    if (context.instanceIndex() == 1) return over.wait();
    try {
      context.fence();
      ADD_FAILURE() << "released";
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
      EXPECT_EQ(error.operation(), "Context::fence");
    }
    over.count_down();
  });
}

TEST(Fence, ThatTimedOutCanBeEnteredAgain) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1}, .timeout = milliseconds(30)});
  std::latch over(1);
  group.run([&](Context& context) {
    if (context.instanceIndex() == 0) {
      EXPECT_THROW(context.fence(), popdist_error);
      over.count_down();
    }
    over.wait();
    context.setTimeout(std::chrono::seconds(10));
    context.put("late " + std::to_string(context.instanceIndex()), "1");
    context.fence();
    EXPECT_EQ(context.get("late 0"), "1");
    EXPECT_EQ(context.get("late 1"), "1");
  });
}

}  // namespace
}  // namespace popdist
