// SPDX-License-Identifier: Apache-2.0
// Evaluation from checkpoints: of a training that goes on in another thread, and of one that has ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "popdist/evaluator.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;
using popdist::testing::ThreadGroup;
using ::testing::ElementsAre;

constexpr std::uint64_t kUpdates = 6;

class EvaluatorTest : public ::testing::Test {
 protected:
  /// A checkpoint after every update, with the loss of all samples then; `saved` is called when it is there.
  void train(const std::function<void(std::uint64_t)>& saved = {}) {
    ThreadGroup group(2);
    group.run([&](Context& context) {
      PopDistStrategy strategy(context);
      Trainer trainer(strategy, regression::parameters(),
                      [](const MicroBatch& b) { regression::addGradients(b, 0.1F); }, adam({.rate = 0.05}),
                      {.metrics = {"loss"}});
      io::Infeed infeed = regression::feed(context, 4);
      io::Infeed test = regression::feed(context, 4);
      Checkpoints checkpoints(context, {.directory = directory.path(), .keep = 0});
      trainer.initialise(7);
      for (std::uint64_t update = 1; update <= kUpdates; ++update) {
        trainer.run(infeed, 1);
        trainer.save(checkpoints, infeed);
        test.start();
        const double loss = trainer.evaluate(test).sum("loss");
        if (context.instanceIndex() == 0) losses.push_back(loss);
        checkpoints.wait();
        if (saved && context.instanceIndex() == 0) saved(update);
        context.world().barrier();
      }
    });
  }

  /// In a job of its own, of one instance.
  void evaluate(const std::function<void(Trainer&, io::Infeed&)>& body, int instances = 1) {
    ThreadGroup group({.replicas_of_instance = std::vector<int>(static_cast<std::size_t>(instances), 2)});
    group.run([&](Context& context) {
      IpuHorovodStrategy strategy(context);
      Trainer trainer(strategy, regression::parameters(),
                      [](const MicroBatch& b) { regression::addGradients(b, 0.1F); }, sgd(0),
                      {.metrics = {"loss"}});
      io::Infeed test = regression::feed(context, 4);
      body(trainer, test);
    });
  }

  Evaluated record() {
    return [this](const Position& at, const Progress& evaluated) {
      steps.push_back(at.step);
      evaluated_losses.push_back(evaluated.sum("loss"));
    };
  }

  pop::testing::TempDir directory;
  std::vector<double> losses;
  std::vector<std::uint64_t> steps;
  std::vector<double> evaluated_losses;
};

TEST_F(EvaluatorTest, FollowsATrainingToItsLastCheckpoint) {
  std::atomic<std::uint64_t> evaluated{0};
  std::thread training([&] {
    // The third waits until an earlier one was evaluated, so that there is something to follow.
    train([&](std::uint64_t update) {
      if (update == 2) evaluated.wait(0);
    });
  });
  const Evaluated take = record();
  evaluate([&](Trainer& trainer, io::Infeed& test) {
    const std::uint64_t evaluations =
        evaluateBeside(trainer,
                       {.directory = directory.path(),
                        .infeed = &test,
                        .is_last = [](const Position& at) { return at.step == kUpdates; }},
                       [&](const Position& at, const Progress& result) {
                         take(at, result);
                         evaluated = at.step;
                         evaluated.notify_all();
                       });
    EXPECT_EQ(evaluations, steps.size());
  });
  training.join();
  ASSERT_GE(steps.size(), 2U);
  EXPECT_LE(steps.front(), 2U);
  EXPECT_EQ(steps.back(), kUpdates);
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
  for (std::size_t i = 0; i < steps.size(); ++i)
    EXPECT_NEAR(evaluated_losses[i], losses[steps[i] - 1], 1e-9) << steps[i];
}

TEST_F(EvaluatorTest, EvaluatesAllThatATrainingHasLeft) {
  train();
  evaluate([&](Trainer& trainer, io::Infeed& test) {
    EXPECT_EQ(evaluateAll(trainer, directory.path(), test, record()), kUpdates);
  });
  EXPECT_THAT(steps, ElementsAre(1, 2, 3, 4, 5, 6));
  ASSERT_EQ(evaluated_losses.size(), losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(evaluated_losses[i], losses[i], 1e-9);
}

TEST_F(EvaluatorTest, OnlyTakesTheNewestWhenTheTrainingIsOver) {
  train();
  evaluate([&](Trainer& trainer, io::Infeed& test) {
    EXPECT_EQ(evaluateBeside(trainer,
                             {.directory = directory.path(),
                              .infeed = &test,
                              .is_last = [](const Position& at) { return at.step >= kUpdates; }},
                             record()),
              1U);
  });
  EXPECT_THAT(steps, ElementsAre(kUpdates));
}

TEST_F(EvaluatorTest, LosesItsPatienceWithATrainingThatHasStopped) {
  train();
  evaluate([&](Trainer& trainer, io::Infeed& test) {
    const FollowSpec spec{.directory = directory.path(),
                          .infeed = &test,
                          .is_last = [](const Position&) { return false; },
                          .timeout = std::chrono::milliseconds(1)};
    EXPECT_EQ(errorCodeOf([&] { evaluateBeside(trainer, spec, record()); }), ErrorCode::kDeadlineExceeded);
  });
  EXPECT_THAT(steps, ElementsAre(kUpdates));
}

TEST_F(EvaluatorTest, RefusesWhatCannotEnd) {
  evaluate([&](Trainer& trainer, io::Infeed& test) {
    const auto code = [&](const FollowSpec& spec) {
      return errorCodeOf([&] { evaluateBeside(trainer, spec); });
    };
    EXPECT_EQ(code({.directory = directory.path(), .infeed = &test}), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code({.directory = directory.path(), .is_last = [](const Position&) { return true; }}),
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(errorCodeOf([&] { evaluateAll(trainer, directory.path(), test); }), ErrorCode::kNotFound);
  });
  evaluate(
      [&](Trainer& trainer, io::Infeed& test) {
        const FollowSpec spec{
            .directory = directory.path(), .infeed = &test, .is_last = [](const Position&) { return true; }};
        EXPECT_EQ(errorCodeOf([&] { evaluateBeside(trainer, spec); }), ErrorCode::kFailedPrecondition);
      },
      2);
}

}  // namespace
}  // namespace popdist::train
