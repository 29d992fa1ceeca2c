// SPDX-License-Identifier: Apache-2.0
// Training to a number of updates, with checkpoints and evaluations on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "popdist/trainer.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;
using ::testing::ElementsAre;

class TrainAndEvaluate : public ::testing::Test {
 protected:
  struct Run {
    std::uint64_t updates = 0;
    std::vector<std::uint64_t> evaluated_at{};
    double loss = 0;  ///< the last evaluation's
  };

  /// The process dies when the evaluation after so many updates has begun, or has been told of.
  enum class Dies { kNever, kInEvaluation, kInCall };

  Run run(std::uint64_t max_updates, std::uint64_t every) { return run(max_updates, every, directory); }

  Run run(std::uint64_t max_updates, std::uint64_t every, const pop::testing::TempDir& where) {
    Trainer trainer(strategy, regression::parameters(),
                    [&](const MicroBatch& batch) {
                      if (!batch.training && dies == Dies::kInEvaluation && batch.update == dies_at)
                        throw std::runtime_error("killed");
                      regression::addGradients(batch, 0.125F);
                    },
                    adam({.rate = 0.05}), {.metrics = {"loss"}});
    io::Infeed training(regression::samples().batch(8).repeat());
    io::Infeed test(regression::samples().batch(8));
    Checkpoints checkpoints(context, {.directory = where.path(), .keep = 0});
    Run outcome;
    outcome.updates =
        trainAndEvaluate(trainer, checkpoints, {.infeed = &training, .max_updates = max_updates},
                         {.infeed = &test, .every_updates = every}, 7,
                         [&](std::uint64_t at, const Progress& trained, const Progress& evaluated) {
                           if (dies == Dies::kInCall && at == dies_at) throw std::runtime_error("killed");
                           trained_updates += trained.updates;
                           EXPECT_EQ(trained.sum("loss") > 0, trained.updates > 0);
                           EXPECT_EQ(evaluated.micro_batches, regression::kSamples / 8);
                           outcome.evaluated_at.push_back(at);
                           outcome.loss = evaluated.sum("loss");
                         });
    return outcome;
  }

  Dies dies = Dies::kNever;
  std::uint64_t dies_at = 0;
  std::uint64_t trained_updates = 0;  // that calls were told of
  Context& context = Context::fromEnvironment();
  SingleStrategy strategy{context};
  pop::testing::TempDir directory;
};

TEST_F(TrainAndEvaluate, StopsAtItsUpdatesAndDoesNothingWhenStartedAgain) {
  const Run first = run(25, 10);
  EXPECT_EQ(first.updates, 25U);
  EXPECT_THAT(first.evaluated_at, ElementsAre(10, 20, 25));
  EXPECT_THAT(checkpointSteps(directory.path()), ElementsAre(10, 20, 25));
  const Run again = run(25, 10);
  EXPECT_EQ(again.updates, 0U);
  EXPECT_THAT(again.evaluated_at, ElementsAre());
  const Run further = run(40, 10);
  EXPECT_EQ(further.updates, 15U);
  EXPECT_THAT(further.evaluated_at, ElementsAre(30, 40));
  const pop::testing::TempDir another;
  EXPECT_EQ(further.loss, run(40, 10, another).loss);
}

TEST_F(TrainAndEvaluate, EvaluatesWhatDeathHasPrevented) {
  dies = Dies::kInEvaluation;
  dies_at = 10;
  EXPECT_THROW(run(25, 10), std::runtime_error);
  dies = Dies::kInCall;
  dies_at = 25;
  EXPECT_THROW(run(25, 10), std::runtime_error);
  EXPECT_EQ(trained_updates, 10U) << "of the second";
  dies = Dies::kNever;
  const Run last = run(25, 10);
  EXPECT_EQ(last.updates, 0U);
  EXPECT_THAT(last.evaluated_at, ElementsAre(25));
  EXPECT_THAT(run(25, 10).evaluated_at, ElementsAre());
  const pop::testing::TempDir another;
  EXPECT_EQ(last.loss, run(25, 10, another).loss);
}

TEST_F(TrainAndEvaluate, OwesNothingBeforeTheLastOneWhoseCheckpointIsNotThere) {
  run(20, 10);
  std::filesystem::remove_all(directory / "step-000020");  // the job has died while it was written
  EXPECT_THAT(run(20, 10).evaluated_at, ElementsAre(20));
}

TEST_F(TrainAndEvaluate, OwesWhateverATrainingBeforeHasEvaluated) {
  run(10, 10);
  std::filesystem::remove_all(directory / "step-000010");
  dies = Dies::kInEvaluation;
  dies_at = 10;
  EXPECT_THROW(run(10, 10), std::runtime_error);
  dies = Dies::kNever;
  EXPECT_THAT(run(10, 10).evaluated_at, ElementsAre(10));
}

TEST_F(TrainAndEvaluate, RefusesWhatMakesNoSense) {
  EXPECT_EQ(errorCodeOf([&] { run(0, 10); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { run(10, 0); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace popdist::train
