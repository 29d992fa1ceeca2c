// SPDX-License-Identifier: Apache-2.0
// Trainings that stop and go on, on other splits of the same replicas: to the bit as if they had not stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "popdist/denormals.hpp"
#include "popdist/trainer.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;
using popdist::testing::ThreadGroup;

struct ResumeSplit {
  std::vector<int> replicas_of_instance;
  int replicas_per_state = 1;
};

struct How {
  std::uint64_t updates = 0;
  bool save = false;
  bool exactly = true;
  std::size_t micro_batch = 2;
  int accumulation = 2;
  Optimizer optimizer = chain(clipByGlobalNorm(1), adam({.rate = warmup(4, 0.05)}));
  GradientScale scale = GradientScale::kMeanOfReplicas;
  Reduction reduction = Reduction::kSum;
};

class Resume : public ::testing::Test {
 protected:
  /// Resumes if there is something, runs, perhaps saves, and returns the weights.
  std::vector<float> run(const ResumeSplit& split, const How& how) {
    ThreadGroup group({.replicas_of_instance = split.replicas_of_instance});
    std::mutex mutex;
    std::vector<float> weights;
    group.run([&](Context& context) {
      PopDistStrategy strategy(context);
      Trainer trainer(
          strategy, regression::parameters(),
          [](const MicroBatch& batch) { regression::addGradients(batch, 0.25F * batch.loss_scale); },
          how.optimizer,
          {.accumulation = {.count = how.accumulation, .reduction = how.reduction},
           .gradient_scale = how.scale,
           .loss_scale = {.initial = 8, .dynamic = true, .growth_interval = 3},
           .replicas_per_optimizer_state = split.replicas_per_state,
           .metrics = {"loss"}});
      io::Infeed infeed = regression::feed(context, how.micro_batch);
      Checkpoints checkpoints(context, {.directory = directory.path()});
      const bool resumed = trainer.resume(checkpoints, infeed, {.exactly = how.exactly});
      if (!resumed) trainer.initialise(7);
      EXPECT_EQ(resumed, !checkpointSteps(directory.path()).empty());
      trainer.run(infeed, how.updates);
      if (how.save) trainer.save(checkpoints, infeed);
      checkpoints.wait();
      const std::lock_guard lock(mutex);
      weights.clear();
      for (const char* name : {"w", "b"}) {
        const auto values = trainer.parameters().get<float>(name);
        weights.insert(weights.end(), values.begin(), values.end());
      }
    });
    return weights;
  }

  pop::testing::TempDir directory;
};

TEST_F(Resume, GoesOnBitByBitOnAnySplitTwiceInAnEpoch) {
  const std::vector<float> whole = run({{4}}, {.updates = 6});
  ASSERT_TRUE(checkpointSteps(directory.path()).empty());
  run({{4}}, {.updates = 2, .save = true});
  run({{1, 1, 1, 1}, 4}, {.updates = 1, .save = true});
  run({{2, 2}, 2}, {.updates = 1, .save = true});
  EXPECT_THAT(run({{1, 1, 1, 1}, 2}, {.updates = 2}), ::testing::ElementsAreArray(whole));
}

TEST_F(Resume, RefusesAnotherBatchUnlessAsked) {
  run({{4}}, {.updates = 2, .save = true});
  const auto code = [&](const ResumeSplit& split, const How& how) {
    return errorCodeOf([&] { run(split, how); });
  };
  EXPECT_EQ(code({{2}}, {.updates = 1}), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code({{4}}, {.updates = 1, .accumulation = 1}), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code({{4}}, {.updates = 1, .micro_batch = 1}), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code({{2}}, {.updates = 1, .exactly = false}), std::nullopt);
}

TEST_F(Resume, RefusesOtherRulesUnlessAsked) {
  run({{2}}, {.updates = 2, .save = true, .optimizer = momentum({.rate = 0.1})});
  const auto code = [&](const How& how) { return errorCodeOf([&] { run({{2}}, how); }); };
  for (const bool exactly : {true, false}) {
    const std::optional<ErrorCode> refused =
        exactly ? std::optional(ErrorCode::kFailedPrecondition) : std::nullopt;
    const auto with = [&](Optimizer optimizer) {
      return How{.updates = 1, .exactly = exactly, .optimizer = std::move(optimizer)};
    };
    EXPECT_EQ(code(with(momentum({.rate = 0.1}))), std::nullopt);
    EXPECT_EQ(code(with(momentum({.rate = 0.1, .momentum = 0.5}))), refused);
    EXPECT_EQ(code(with(momentum({.rate = 0.2}))), refused);
    How other = with(momentum({.rate = 0.1}));
    other.scale = GradientScale::kSum;
    EXPECT_EQ(code(other), refused);
    other.scale = GradientScale::kMeanOfReplicas;
    other.reduction = Reduction::kMean;
    EXPECT_EQ(code(other), refused);
  }
  EXPECT_EQ(code({.updates = 1, .optimizer = sgd(0.1)}), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code({.updates = 1, .optimizer = adam({})}), ErrorCode::kFailedPrecondition);
}

TEST_F(Resume, RefusesACheckpointOfMoreTensorsUnlessAsked) {
  const auto train = [&](bool is_whole, bool exactly) {
    ThreadGroup(1).run([&](Context& context) {
      Parameters parameters = regression::parameters();
      if (is_whole) parameters.add("head", {7});
      PopDistStrategy strategy(context);
      Variables seen(context, {{.name = "seen"}});
      Trainer trainer(strategy, parameters, [](const MicroBatch&) {}, sgd(0.1),
                      {.variables = is_whole ? &seen : nullptr});
      io::Infeed infeed = regression::feed(context, 2);
      Checkpoints checkpoints(context, {.directory = directory.path()});
      if (!trainer.resume(checkpoints, infeed, {.exactly = exactly})) trainer.initialise(1);
      trainer.run(infeed, 1);
      trainer.save(checkpoints, infeed);
      checkpoints.wait();
    });
  };
  train(true, true);
  EXPECT_EQ(errorCodeOf([&] { train(false, true); }), ErrorCode::kFailedPrecondition);
  train(false, false);
}

TEST_F(Resume, SaysWhichMicroBatchFitsWhereSamplesAreNoWholeOnes) {
  run({{2}}, {.updates = 1, .save = true, .micro_batch = 3, .accumulation = 1});
  try {
    run({{2}}, {.updates = 1, .exactly = false, .micro_batch = 4, .accumulation = 1});
    ADD_FAILURE() << "6 samples are no whole micro-batches of 4 on 2 replicas";
  } catch (const popdist_error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("a micro-batch of 3 fits"));
  }
}

TEST_F(Resume, LeavesAloneWhatItRefusesToReplace) {
  run({{2}}, {.updates = 2, .save = true});
  ThreadGroup group(1);
  group.run([&](Context& context) {
    PopDistStrategy strategy(context);
    Trainer trainer(
        strategy, regression::parameters(), [](const MicroBatch&) {}, sgd(0.1));
    io::Infeed infeed = regression::feed(context, 2);
    Checkpoints checkpoints(context, {.directory = directory.path()});
    trainer.initialise(11);
    const auto weights = trainer.parameters().get<float>("w");
    const std::vector<float> before(weights.begin(), weights.end());
    // Other tensors than the checkpoint's: even those are not looked for.
    EXPECT_EQ(errorCodeOf([&] { trainer.resume(checkpoints, infeed); }), ErrorCode::kFailedPrecondition);
    EXPECT_THAT(weights, ::testing::ElementsAreArray(before));
    EXPECT_EQ(trainer.updates(), 0U);
  });
}

TEST_F(Resume, RefusesAnotherTreatmentOfDenormals) {
  if (!FlushDenormals::isSupported()) return;
  run({{1}}, {.updates = 1, .save = true});
  const FlushDenormals flush;
  EXPECT_EQ(errorCodeOf([&] { run({{1}}, {.updates = 1}); }), ErrorCode::kFailedPrecondition);
}

TEST_F(Resume, RefusesWhatNoTrainerHasMade) {
  Context& context = Context::fromEnvironment();
  {
    Checkpoints checkpoints(context, {.directory = directory.path()});
    Tensors tensors(regression::parameters().spec());
    std::vector<Piece> pieces = Piece::of(tensors);
    Tensors state(Spec{{"adam.m/w", Type::kFloat, {3}},
                       {"adam.m/b", Type::kFloat, {1}},
                       {"adam.v/w", Type::kFloat, {3}},
                       {"adam.v/b", Type::kFloat, {1}}});
    for (Piece& piece : Piece::of(state)) pieces.push_back(piece);
    checkpoints.save(pieces, {.step = 5});
    checkpoints.wait();
  }
  EXPECT_EQ(errorCodeOf([&] { run({{1}}, {.updates = 1}); }), ErrorCode::kDataLoss);
}

}  // namespace
}  // namespace popdist::train
