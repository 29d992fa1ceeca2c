// SPDX-License-Identifier: Apache-2.0
// Outfeed: shapes and steps, what each mode keeps, and what a full queue does.
#include "popdist/outfeed.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <numeric>
#include <thread>

#include "tests/testing/fork_at_rest.h"
#include "tests/testing/refused.h"
#include "tests/unit/libpopdist/data/datasets.h"

namespace popdist::io {
namespace {

using popdist::testing::isRefused;
using std::chrono::milliseconds;
using testing::expectError;

constexpr milliseconds kLong{60'000};  // never waited for in full

std::vector<float> losses(const Tensors& tensors) {
  const auto values = tensors.get<float>("loss");
  return {values.begin(), values.end()};
}

TEST(Outfeed, AllGivesEveryStepInOrder) {
  Outfeed outfeed({.buffer_depth = 3});
  for (const float value : {3.0F, 1.0F, 2.0F}) outfeed.enqueue("loss", value);
  const Tensors first = outfeed.dequeue();
  EXPECT_EQ(first.spec()[0].shape, (Shape{3}));
  EXPECT_EQ(losses(first), (std::vector<float>{3, 1, 2}));
  EXPECT_EQ(outfeed.dequeue().spec()[0].shape, (Shape{0}));
  outfeed.enqueue("loss", 4.0F);
  EXPECT_EQ(losses(outfeed.dequeue()), (std::vector<float>{4}));
}

TEST(Outfeed, ShapesHaveStepsAndReplicasInFront) {
  for (const int replicas : {1, 2, 8}) {
    Outfeed all({.replicas = replicas});
    Outfeed last({.mode = OutfeedMode::kLast, .replicas = replicas});
    for (int step = 0; step < 2; ++step) {
      for (int replica = 0; replica < replicas; ++replica) {
        const Tensors values(Tensor::full("loss", {3}, static_cast<float>(10 * step + replica)),
                             Tensor::full("n", {}, replica));
        all.enqueue(values, replica);
        last.enqueue(values, replica);
      }
    }
    const auto count = static_cast<std::size_t>(replicas);
    const Tensors everything = all.dequeue();
    EXPECT_EQ(everything.spec()[0].shape, replicas == 1 ? (Shape{2, 3}) : (Shape{2, count, 3}));
    EXPECT_EQ(everything.spec()[1].shape, replicas == 1 ? (Shape{2}) : (Shape{2, count}));
    EXPECT_EQ(losses(everything).back(), static_cast<float>(10 + replicas - 1));
    EXPECT_EQ(last.dequeue().spec()[0].shape, replicas == 1 ? (Shape{3}) : (Shape{count, 3}));
  }
}

TEST(Outfeed, StepIsThereWhenAllReplicasHaveEnqueued) {
  Outfeed outfeed({.replicas = 2});
  outfeed.enqueue("loss", 1.0F, 0);
  outfeed.enqueue("loss", 2.0F, 0);
  EXPECT_EQ(losses(outfeed.dequeue()).size(), 0U);
  outfeed.enqueue("loss", 3.0F, 1);
  EXPECT_EQ(losses(outfeed.dequeue()), (std::vector<float>{1, 3}));
  outfeed.enqueue("loss", 4.0F, 1);
  EXPECT_EQ(losses(outfeed.dequeue()), (std::vector<float>{2, 4}));
}

TEST(Outfeed, LastKeepsOnlyTheLatestAndNeverWaits) {
  Outfeed outfeed({.mode = OutfeedMode::kLast, .enqueue_timeout = kLong});
  for (int i = 0; i < 100; ++i) outfeed.enqueue("loss", static_cast<float>(i));
  EXPECT_EQ(losses(outfeed.dequeue()), (std::vector<float>{99}));
  EXPECT_EQ(losses(outfeed.dequeue()), (std::vector<float>{99})) << "still the latest";
  expectError([&] { outfeed.begin(); }, ErrorCode::kFailedPrecondition, "kLast");
}

TEST(Outfeed, DequeueBeforeAnyEnqueueIsAnErrorUnlessALoopRuns) {
  Outfeed outfeed;
  expectError([&] { outfeed.dequeue(); }, ErrorCode::kFailedPrecondition, "nothing was ever enqueued");
  const Outfeed::Loop loop(outfeed);
  EXPECT_EQ(outfeed.dequeue().size(), 0U);
  Outfeed last({.mode = OutfeedMode::kLast});
  expectError([&] { last.dequeue(); }, ErrorCode::kFailedPrecondition, "not every replica");
}

TEST(Outfeed, IsReadWhileTheLoopRuns) {
  constexpr int kSteps = 1000;
  Outfeed outfeed({.enqueue_timeout = kLong});
  std::promise<void> running;
  std::thread device([&] {
    const Outfeed::Loop loop(outfeed);
    running.set_value();
    for (int i = 0; i < kSteps; ++i) outfeed.enqueue("loss", static_cast<float>(i));
  });
  running.get_future().wait();
  int expected = 0;
  for (const Tensors& step : outfeed) ASSERT_EQ(step.get<float>("loss")[0], static_cast<float>(expected++));
  EXPECT_EQ(expected, kSteps);
  device.join();
}

TEST(Outfeed, IteratesForAlgorithms) {
  Outfeed outfeed({.buffer_depth = 4});
  for (int i = 1; i <= 4; ++i) outfeed.enqueue("loss", static_cast<float>(i));
  const float sum =
      std::accumulate(outfeed.begin(), outfeed.end(), 0.0F,
                      [](float so_far, const Tensors& step) { return so_far + step.get<float>("loss")[0]; });
  EXPECT_EQ(sum, 10.0F);
  EXPECT_EQ(outfeed.bytesTaken(), 16U);
}

TEST(Outfeed, FullQueueThatNobodyEmptiesIsAnErrorAndStaysAsItWas) {
  Outfeed outfeed({.buffer_depth = 2, .enqueue_timeout = milliseconds(1)});
  outfeed.enqueue("loss", 1.0F);
  outfeed.enqueue("loss", 2.0F);
  expectError([&] { outfeed.enqueue("loss", 3.0F); }, ErrorCode::kDeadlineExceeded,
              "full (buffer_depth 2) for 1 ms");
  EXPECT_EQ(losses(outfeed.dequeue()), (std::vector<float>{1, 2}));
  outfeed.enqueue("loss", 3.0F);
  EXPECT_EQ(losses(outfeed.dequeue()), (std::vector<float>{3}));
}

TEST(Outfeed, FullQueueBlocksUntilAnotherThreadDequeues) {
  constexpr int kValues = 1000;
  Outfeed outfeed({.enqueue_timeout = kLong});
  outfeed.enqueue("loss", 0.0F);
  std::thread device([&] {
    for (int i = 1; i < kValues; ++i) outfeed.enqueue("loss", static_cast<float>(i));
  });
  int expected = 0;
  while (expected < kValues) {
    const std::vector<float> values = losses(outfeed.dequeue(kLong));
    ASSERT_LE(values.size(), 3U);
    for (const float value : values) ASSERT_EQ(value, static_cast<float>(expected++));
  }
  device.join();
}

TEST(Outfeed, SumsStepsOnTheDevice) {
  Outfeed outfeed({.replicas = 2, .accumulate = OutfeedAccumulation{.steps = 3, .type = Type::kDouble}});
  for (int step = 0; step < 6; ++step) {
    for (int replica = 0; replica < 2; ++replica)
      outfeed.enqueue("hits", static_cast<std::int32_t>(step + 100 * replica), replica);
  }
  const Tensors sums = outfeed.dequeue();
  EXPECT_EQ(textOf(sums.spec()), "hits: double [2, 2]");
  const auto values = sums.get<double>("hits");
  EXPECT_EQ(std::vector<double>(values.begin(), values.end()), (std::vector<double>{3, 303, 12, 312}));
  EXPECT_EQ(outfeed.bytesTaken(), 32U);
}

TEST(Outfeed, SumsInTheTypeOfTheValues) {
  Outfeed outfeed({.accumulate = OutfeedAccumulation{.steps = 3}});
  Outfeed halves({.accumulate = OutfeedAccumulation{.steps = 2}});
  for (int i = 0; i < 3; ++i) outfeed.enqueue("n", std::uint32_t{2'000'000'000});
  EXPECT_EQ(outfeed.dequeue().get<std::uint32_t>("n")[0], 1'705'032'704U) << "it wraps";
  for (int i = 0; i < 2; ++i) halves.enqueue("h", half(1.5F));
  EXPECT_EQ(static_cast<float>(halves.dequeue().get<half>("h")[0]), 3.0F);
}

TEST(Outfeed, SumsBytesInATypeThatIsGiven) {
  Outfeed bytes({.accumulate = OutfeedAccumulation{.steps = 3}});
  expectError([&] { bytes.enqueue("n", std::uint8_t{200}); }, ErrorCode::kInvalidArgument,
              "OutfeedAccumulation::type");
  expectError([&] { bytes.enqueue("n", std::int8_t{1}); }, ErrorCode::kInvalidArgument, "n: int8 []");
  Outfeed floats({.accumulate = OutfeedAccumulation{.steps = 3, .type = Type::kFloat}});
  for (int i = 0; i < 3; ++i) floats.enqueue("n", std::uint8_t{200});
  EXPECT_EQ(floats.dequeue().get<float>("n")[0], 600.0F);
}

TEST(Outfeed, RefusesStepsOfOtherTensors) {
  Outfeed outfeed;
  outfeed.enqueue("loss", 1.0F);
  expectError([&] { outfeed.enqueue("loss", 1.0); }, ErrorCode::kInvalidArgument,
              "the first step was loss: float [], this one is loss: double []");
  expectError([&] { outfeed.enqueue("loss", 1.0F, 1); }, ErrorCode::kOutOfRange, "no replica 1");
}

TEST(Outfeed, LongestTimeoutDoesNotOverflow) {
  Outfeed outfeed({.buffer_depth = 1, .enqueue_timeout = milliseconds::max()});
  outfeed.enqueue("loss", 1.0F);
  std::thread host([&] { EXPECT_EQ(losses(outfeed.dequeue()), (std::vector<float>{1})); });
  outfeed.enqueue("loss", 2.0F);
  host.join();
  EXPECT_EQ(losses(outfeed.dequeue(milliseconds::max())), (std::vector<float>{2}));
}

// At rest: before, none could hang that waits for threads which the child has not got.
TEST(Outfeed, IsOnlyForgottenByAForkedChild) {
  Outfeed outfeed;
  std::promise<void> started;
  std::thread host([&] {
    started.set_value();
    EXPECT_EQ(losses(outfeed.dequeue(kLong)), (std::vector<float>{1}));
  });
  started.get_future().wait();
  const pid_t child = popdist::testing::forkAtRest();
  if (child == 0) {
    ::alarm(20);
    const bool refused =
        isRefused([&] { outfeed.enqueue("loss", 2.0F); }) && isRefused([&] { outfeed.dequeue(); });
    Outfeed(std::move(outfeed));
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  outfeed.enqueue("loss", 1.0F);
  host.join();
}

TEST(Outfeed, RefusesOptionsOutOfRange) {
  const auto expectRefused = [](const OutfeedOptions& options, const std::string& message) {
    expectError([&] { Outfeed outfeed(options); }, ErrorCode::kInvalidArgument, message);
  };
  expectRefused({.replicas = 0}, "replicas is 0");
  expectRefused({.replicas = 2'000'000'000}, "replicas is 2000000000");
  expectRefused({.buffer_depth = 0}, "buffer_depth is 0");
  expectRefused({.enqueue_timeout = milliseconds(-1)}, "-1 ms");
  expectRefused({.accumulate = OutfeedAccumulation{.steps = 0}}, "0 steps");
  expectRefused({.mode = OutfeedMode::kLast, .accumulate = OutfeedAccumulation{}}, "kAll");
  Outfeed halves({.accumulate = OutfeedAccumulation{.type = Type::kHalf}});
  expectError([&] { halves.enqueue("loss", 1.0F); }, ErrorCode::kInvalidArgument, "not of half");
  Outfeed sums({.accumulate = OutfeedAccumulation{}});
  expectError([&] { sums.enqueue("flag", true); }, ErrorCode::kInvalidArgument,
              "flag: bool [] cannot be summed");
}

}  // namespace
}  // namespace popdist::io
