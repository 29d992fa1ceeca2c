// SPDX-License-Identifier: Apache-2.0
// Loops on the device: how often the body is called, what it gets, and what is refused.
#include "popdist/loops.hpp"

#include <future>
#include <numeric>
#include <thread>

#include "tests/unit/libpopdist/data/datasets.h"

namespace popdist::loops {
namespace {

using io::testing::counting;
using io::testing::expectError;

Tensors counter() {
  return Tensors(Tensor::full("counter", {}, 0));
}

void countUp(Tensors& carried) {
  ++carried.get<int>("counter")[0];
}

// A dataset of one element that repeats, two outputs by name, ten iterations.
TEST(Repeat, RunsTheProgramOfTheTutorial) {
  io::Infeed infeed(io::Dataset::fromTensors(Tensors(Tensor::full("x", {800}, 1.0F)))
                        .map({{"a", Type::kFloat, {800}}, {"b", Type::kFloat, {800}}},
                             [](ConstTensorRefs from, TensorRefs to) {
                               for (std::size_t i = 0; i < 800; ++i)
                                 to.get<float>("a")[i] = to.get<float>("b")[i] = from.get<float>("x")[i];
                             })
                        .repeat());
  io::Outfeed outfeed({.buffer_depth = 10});
  const Tensors result =
      repeat(10,
             [&](Tensors& carried, const Tensors& input) {
               Tensors out({{"d1", Type::kFloat, {800}}, {"d2", Type::kFloat, {800}}});
               for (std::size_t i = 0; i < 800; ++i) {
                 out.get<float>("d1")[i] = input.get<float>("a")[i] + input.get<float>("b")[i];
                 out.get<float>("d2")[i] = input.get<float>("a")[i] - input.get<float>("b")[i];
               }
               outfeed.enqueue(out);
               countUp(carried);
             },
             counter(), {.infeed = &infeed, .outfeeds = {&outfeed}});
  EXPECT_EQ(result.get<int>("counter")[0], 10);
  const Tensors out = outfeed.dequeue();
  EXPECT_EQ(textOf(out.spec()), "d1: float [10, 800], d2: float [10, 800]");
  EXPECT_THAT(out.get<float>("d1"), ::testing::Each(2.0F));
  EXPECT_THAT(out.get<float>("d2"), ::testing::Each(0.0F));
}

TEST(Repeat, GivesCarriedValuesBackWithoutAnyFeed) {
  EXPECT_EQ(repeat(10, countUp, counter()).get<int>("counter")[0], 10);
  EXPECT_EQ(repeat(0, countUp, counter()).get<int>("counter")[0], 0);
}

TEST(Repeat, RefusesAnInfeedThatIsNotReadAndAnInputThatIsNotThere) {
  io::Infeed infeed(counting(5));
  expectError([&] { repeat(1, countUp, counter(), {.infeed = &infeed}); }, ErrorCode::kInvalidArgument,
              "the body takes no input");
  expectError(
      [] {
        repeat(
            1, [](Tensors&, const Tensors&) {}, counter());
      },
      ErrorCode::kInvalidArgument, "LoopOptions::infeed is not set");
}

TEST(Repeat, NamesTheIterationForWhichThereIsNoInput) {
  io::Infeed infeed(counting(3));
  expectError([&] { repeat(5, [](Tensors&, const Tensors&) {}, counter(), {.infeed = &infeed}); },
              ErrorCode::kOutOfRange, "no element for iteration 3 of 5: repeat() the dataset");
}

TEST(Repeat, RefusesASecondEnqueueInOneIteration) {
  io::Outfeed outfeed;
  int enqueued = 0;
  expectError(
      [&] {
        repeat(3,
               [&](Tensors&) {
                 outfeed.enqueue("loss", 1.0F);
                 if (++enqueued == 2) outfeed.enqueue("loss", 2.0F);
               },
               counter(), {.outfeeds = {&outfeed}});
      },
      ErrorCode::kFailedPrecondition, "replica 0 has enqueued in this step already");
  EXPECT_EQ(enqueued, 2);
  outfeed.enqueue("loss", 3.0F);
  EXPECT_EQ(outfeed.dequeue().get<float>("loss").size(), 3U) << "after the loop it may";
}

TEST(Repeat, IsFollowedByAnotherThread) {
  constexpr int kSteps = 500;
  io::Outfeed outfeed({.enqueue_timeout = std::chrono::minutes(1)});
  std::promise<void> running;
  std::thread device([&] {
    bool is_first = true;
    repeat(kSteps,
           [&](Tensors& carried) {
             countUp(carried);
             outfeed.enqueue("step", carried.get<int>("counter")[0]);
             if (std::exchange(is_first, false)) running.set_value();
           },
           counter(), {.outfeeds = {&outfeed}});
  });
  running.get_future().wait();
  int expected = 0;
  for (const Tensors& step : outfeed) ASSERT_EQ(step.get<int>("step")[0], ++expected);
  EXPECT_EQ(expected, kSteps);
  device.join();
}

TEST(WhileLoop, StopsWhenTheConditionDoesNotHold) {
  io::Infeed infeed(counting(100));
  const Tensors result =
      whileLoop([](const Tensors& carried) { return carried.get<int>("counter")[0] < 7; },
                [](Tensors& carried, const Tensors& input) {
                  EXPECT_EQ(input.get<float>("x")[0], static_cast<float>(carried.get<int>("counter")[0]));
                  countUp(carried);
                },
                counter(), {.infeed = &infeed});
  EXPECT_EQ(result.get<int>("counter")[0], 7);
  EXPECT_EQ(infeed.position().step, 7U) << "the condition reads nothing";
}

TEST(WhileLoop, HasAMostOfIterations) {
  int calls = 0;
  expectError(
      [&] { whileLoop([](const Tensors&) { return true; }, [&](Tensors&) { ++calls; }, counter(), {}, 12); },
      ErrorCode::kDeadlineExceeded, "maximum_iterations (12)");
  EXPECT_EQ(calls, 12);
  EXPECT_EQ(whileLoop([](const Tensors& carried) { return carried.get<int>(0)[0] < 12; }, countUp, counter(),
                      {}, 12)
                .get<int>("counter")[0],
            12);
}

// 1000 steps in executions of 10; after each, the mean loss of the 10.
TEST(Execute, CallsTheHostOncePerExecution) {
  io::Outfeed outfeed({.buffer_depth = 10});
  std::vector<float> means;
  const std::uint64_t executions = execute(1000, 10, [&](std::uint64_t first, std::uint64_t steps) {
    repeat(steps,
           [&](Tensors& carried) {
             outfeed.enqueue("loss",
                             static_cast<float>(first) + static_cast<float>(carried.get<int>("counter")[0]));
             countUp(carried);
           },
           counter(), {.outfeeds = {&outfeed}});
    const Tensors losses = outfeed.dequeue();
    const auto values = losses.get<float>("loss");
    means.push_back(std::accumulate(values.begin(), values.end(), 0.0F) / static_cast<float>(values.size()));
  });
  EXPECT_EQ(executions, 100U);
  EXPECT_EQ(means.at(0), 4.5F);
  EXPECT_EQ(means.at(99), 994.5F);
}

TEST(Execute, MayEndWithAShorterOne) {
  std::vector<std::uint64_t> lengths;
  execute(25, 10, [&](std::uint64_t, std::uint64_t steps) { lengths.push_back(steps); });
  EXPECT_THAT(lengths, ::testing::ElementsAre(10, 10, 5));
  expectError([] { execute(1, 0, [](std::uint64_t, std::uint64_t) {}); }, ErrorCode::kInvalidArgument,
              "is 0");
}

}  // namespace
}  // namespace popdist::loops
