// SPDX-License-Identifier: Apache-2.0
// Outfeed: what each mode keeps, and what a full queue does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <thread>
#include <utility>

#include "popdist/error.hpp"
#include "popdist/io.hpp"
#include "tests/testing/process_tree.h"
#include "tests/testing/refused.h"

namespace popdist::io {
namespace {

using popdist::testing::isRefused;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr milliseconds kLong{60'000};  // never waited for in full

TEST(Outfeed, AllGivesEveryValueInOrder) {
  Outfeed outfeed({.capacity = 3});
  EXPECT_THAT(outfeed.dequeueAll(), IsEmpty());
  for (const float value : {3.0F, 1.0F, 2.0F}) outfeed.enqueue(value);
  EXPECT_THAT(outfeed.dequeueAll(), ElementsAre(3.0F, 1.0F, 2.0F));
  EXPECT_THAT(outfeed.dequeueAll(), IsEmpty());
  outfeed.enqueue(4.0F);
  EXPECT_THAT(outfeed.dequeueAll(), ElementsAre(4.0F));
}

TEST(Outfeed, LastKeepsOnlyTheLatestAndNeverWaits) {
  Outfeed outfeed({.mode = OutfeedMode::kLast, .enqueue_timeout = kLong});
  EXPECT_THAT(outfeed.dequeueAll(), IsEmpty());
  for (int i = 0; i < 100; ++i) outfeed.enqueue(static_cast<float>(i));
  EXPECT_THAT(outfeed.dequeueAll(), ElementsAre(99.0F));
  EXPECT_THAT(outfeed.dequeueAll(), IsEmpty());
}

TEST(Outfeed, HoldsThreeValuesByDefault) {
  Outfeed outfeed({.enqueue_timeout = milliseconds(0)});
  for (int i = 0; i < 3; ++i) outfeed.enqueue(0.0F);
  EXPECT_THROW(outfeed.enqueue(0.0F), popdist_error);
}

TEST(Outfeed, FullQueueThatNobodyEmptiesIsAnErrorAndStaysAsItWas) {
  Outfeed outfeed({.capacity = 2, .enqueue_timeout = milliseconds(1)});
  outfeed.enqueue(1.0F);
  outfeed.enqueue(2.0F);
  try {
    outfeed.enqueue(3.0F);
    ADD_FAILURE() << "expected kDeadlineExceeded";
  } catch (const popdist_error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
    EXPECT_THAT(error.what(), HasSubstr("full (capacity 2) for 1 ms and nobody dequeues"));
    EXPECT_THAT(error.what(), HasSubstr("raise OutfeedOptions::capacity, or use OutfeedMode::kLast"));
  }
  EXPECT_THAT(outfeed.dequeueAll(), ElementsAre(1.0F, 2.0F));
  outfeed.enqueue(3.0F);
  EXPECT_THAT(outfeed.dequeueAll(), ElementsAre(3.0F));
}

TEST(Outfeed, FullQueueBlocksUntilAnotherThreadDequeues) {
  constexpr int kValues = 1000;
  Outfeed outfeed({.capacity = 3, .enqueue_timeout = kLong});
  std::thread device([&] {
    for (int i = 0; i < kValues; ++i) outfeed.enqueue(static_cast<float>(i));
  });
  int expected = 0;
  while (expected < kValues) {
    const std::vector<float> values = outfeed.dequeueAll(kLong);
    ASSERT_LE(values.size(), 3U);
    for (const float value : values) ASSERT_EQ(value, static_cast<float>(expected++));
  }
  device.join();
}

TEST(Outfeed, DequeueWaitsNoLongerThanItIsTold) {
  Outfeed outfeed;
  EXPECT_THAT(outfeed.dequeueAll(milliseconds(1)), IsEmpty());
  outfeed.enqueue(5.0F);
  EXPECT_THAT(outfeed.dequeueAll(milliseconds::max()), ElementsAre(5.0F));
}

TEST(Outfeed, LongestTimeoutDoesNotOverflow) {
  Outfeed outfeed({.capacity = 1, .enqueue_timeout = milliseconds::max()});
  outfeed.enqueue(1.0F);
  std::thread host([&] { EXPECT_THAT(outfeed.dequeueAll(), ElementsAre(1.0F)); });
  outfeed.enqueue(2.0F);
  host.join();
  EXPECT_THAT(outfeed.dequeueAll(), ElementsAre(2.0F));
}

// Not before one can hang that waits for threads which the child has not got.
bool sleepsSoon(pid_t thread) {
  return pop::testing::waitUntil([&] { return pop::testing::statOf(thread).value().state == 'S'; }, kLong);
}

TEST(Outfeed, IsOnlyForgottenByAForkedChild) {
  Outfeed outfeed;
  std::promise<pid_t> started;
  std::thread host([&] {
    started.set_value(::gettid());
    EXPECT_THAT(outfeed.dequeueAll(kLong), ElementsAre(1.0F));
  });
  ASSERT_TRUE(sleepsSoon(started.get_future().get()));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    const bool refused =
        isRefused([&] { outfeed.enqueue(2.0F); }) && isRefused([&] { outfeed.dequeueAll(); });
    Outfeed(std::move(outfeed));
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  outfeed.enqueue(1.0F);
  host.join();
}

TEST(Outfeed, RefusesOptionsOutOfRange) {
  EXPECT_THROW(Outfeed({.capacity = 0}), popdist_error);
  EXPECT_THROW(Outfeed({.enqueue_timeout = milliseconds(-1)}), popdist_error);
}

}  // namespace
}  // namespace popdist::io
