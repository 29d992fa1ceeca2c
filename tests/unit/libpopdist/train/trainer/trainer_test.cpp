// SPDX-License-Identifier: Apache-2.0
// The loop: what it refuses, what evaluations leave alone, what it counts.
#include "popdist/trainer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "tests/testing/error_code_of.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;

class TrainerTest : public ::testing::Test {
 protected:
  Trainer make(const TrainerOptions& options, Optimizer optimizer = sgd(0.01)) {
    return Trainer(
        strategy, regression::parameters(),
        [](const MicroBatch& batch) { regression::addGradients(batch, 1); }, std::move(optimizer), options);
  }

  Context& context = Context::fromEnvironment();
  SingleStrategy strategy{context};
};

TEST_F(TrainerTest, EvaluationsChangeNothingAndSeeThePassOnce) {
  Trainer trainer = make({.metrics = {"loss"}}, adam({}));
  trainer.initialise(1);
  io::Infeed infeed = regression::feed(context, 8);
  trainer.run(infeed, 3);
  const std::vector<float> before(trainer.parameters().get<float>("w").begin(),
                                  trainer.parameters().get<float>("w").end());
  std::vector<std::byte> state;
  for (const Piece& piece : trainer.weightUpdate().state())
    state.insert(state.end(), piece.bytes.begin(), piece.bytes.end());
  io::Infeed all = regression::feed(context, 8);
  const Progress first = trainer.evaluate(all);
  all.start();
  const Progress second = trainer.evaluate(all);
  EXPECT_EQ(first.micro_batches, regression::kSamples / 8);
  EXPECT_EQ(first.updates, 0U);
  EXPECT_EQ(first.sum("loss"), second.sum("loss"));
  EXPECT_THAT(trainer.parameters().get<float>("w"), ::testing::ElementsAreArray(before));
  std::vector<std::byte> state_after;
  for (const Piece& piece : trainer.weightUpdate().state())
    state_after.insert(state_after.end(), piece.bytes.begin(), piece.bytes.end());
  EXPECT_EQ(state_after, state);
  EXPECT_EQ(trainer.updatesDone(), 3U);
  EXPECT_EQ(trainer.run(infeed, 1).updates, 1U);
}

TEST_F(TrainerTest, LearnsTheFunction) {
  Trainer trainer = make({.metrics = {"loss"}}, adam({.rate = 0.1}));
  trainer.initialise(1);
  io::Infeed infeed = regression::feed(context, 8);
  double loss = 0;
  for (std::uint64_t epoch = 0; epoch < 40; ++epoch) {
    infeed.start({.epoch = epoch});
    loss = trainer.run(infeed, regression::kSamples / 8).meanOfMicroBatches("loss");
  }
  EXPECT_LT(loss, 1e-3);
}

TEST_F(TrainerTest, SaysWhereTheInfeedEnds) {
  Trainer trainer = make({.accumulation = {.count = 5}, .metrics = {"loss"}});
  io::Infeed infeed = regression::feed(context, 8);
  EXPECT_EQ(errorCodeOf([&] { trainer.run(infeed, 3); }), ErrorCode::kOutOfRange);
}

TEST_F(TrainerTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(errorCodeOf([&] { make({.accumulation = {.count = 0}}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { make({.accumulation = {.type = Type::kBool}}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { make({.accumulation = {.type = Type::kHalf}}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { make({.accumulation = {.type = Type::kHalf}}, castGradients(sgd(1))); }),
            std::nullopt);
  EXPECT_EQ(errorCodeOf([&] { make({.replicas_per_optimizer_state = 3}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { make({}, Optimizer{}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] {
              Trainer(
                  strategy, Parameters(), [](const MicroBatch&) {}, sgd(1));
            }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { Trainer(strategy, regression::parameters(), Step(), sgd(1)); }),
            ErrorCode::kInvalidArgument);
}

TEST_F(TrainerTest, HearsOfGradientsOnceEach) {
  Trainer trainer(
      strategy, regression::parameters(),
      [](const MicroBatch& batch) {
        batch.ready(0);
        batch.ready(0);
      },
      sgd(1));
  io::Infeed infeed = regression::feed(context, 8);
  EXPECT_EQ(errorCodeOf([&] { trainer.run(infeed, 1); }), ErrorCode::kFailedPrecondition);
}

TEST_F(TrainerTest, PassesOnWhatTheStepThrows) {
  Trainer trainer(
      strategy, regression::parameters(),
      [](const MicroBatch&) { throw std::runtime_error("no such label"); }, sgd(1));
  io::Infeed infeed = regression::feed(context, 8);
  EXPECT_THROW(trainer.run(infeed, 1), std::runtime_error);
}

TEST_F(TrainerTest, SaysWhereTheTimeWent) {
  Trainer trainer = make({.metrics = {"loss"}});
  io::Infeed infeed = regression::feed(context, 8);
  const Times times = trainer.run(infeed, 5).seconds;
  EXPECT_GT(times.input, 0);
  EXPECT_GT(times.step, 0);
  EXPECT_GT(times.update, 0);
  EXPECT_GE(times.all, times.input + times.step + times.reduction + times.update - 1e-9);
  EXPECT_LE(times.all, 1.01 * (times.input + times.step + times.reduction + times.update));
}

TEST_F(TrainerTest, NamesMetricsThatThereAre) {
  Trainer trainer = make({.metrics = {"loss"}});
  io::Infeed infeed = regression::feed(context, 8);
  const Progress progress = trainer.run(infeed, 1);
  EXPECT_EQ(errorCodeOf([&] { progress.sum("accuracy"); }), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace popdist::train
