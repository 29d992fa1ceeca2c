// SPDX-License-Identifier: Apache-2.0
// Loss scales that fall and rise, and updates that are skipped on all replicas alike.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "popdist/trainer.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;
using popdist::testing::ThreadGroup;

constexpr LossScale kDynamic{.initial = 8, .dynamic = true, .growth_interval = 2};

TEST(LossScale, FallsWhereAGradientIsNotFiniteAndRisesAfterGoodUpdates) {
  ThreadGroup group({.replicas_of_instance = {1, 1}});
  group.run([](Context& context) {
    PopDistStrategy strategy(context);
    Trainer trainer(strategy, regression::parameters(),
                    [](const MicroBatch& batch) {
                      regression::addGradients(batch, batch.loss_scale / 100);
                      const bool overflows = batch.update == 1 && batch.replica == 1;
                      if (overflows)
                        batch.gradients.get<float>("w")[0] = std::numeric_limits<float>::infinity();
                    },
                    adam({}), {.loss_scale = kDynamic, .metrics = {"loss"}});
    trainer.initialise(1);
    io::Infeed infeed = regression::feed(context, 4);
    EXPECT_EQ(trainer.run(infeed, 1).updates, 1U);
    EXPECT_EQ(trainer.lossScale(), 8);
    const float before = trainer.parameters().get<float>("w")[0];
    const Progress second = trainer.run(infeed, 1);
    EXPECT_EQ(second.updates, 0U);
    EXPECT_EQ(second.skipped, 1U);
    EXPECT_EQ(trainer.parameters().get<float>("w")[0], before);
    EXPECT_EQ(trainer.updatesDone(), 1U);
    EXPECT_EQ(trainer.lossScale(), 4);
    EXPECT_EQ(trainer.run(infeed, 2).updates, 2U);
    EXPECT_EQ(trainer.lossScale(), 8);
  });
}

TEST(LossScale, DoesNotChangeTheResult) {
  Context& context = Context::fromEnvironment();
  const auto train = [&](double scale) {
    SingleStrategy strategy(context);
    Trainer trainer(strategy, regression::parameters(),
                    [](const MicroBatch& batch) { regression::addGradients(batch, batch.loss_scale); },
                    sgd(0.01), {.loss_scale = {.initial = scale}, .metrics = {"loss"}});
    trainer.initialise(1);
    io::Infeed infeed = regression::feed(context, 4);
    trainer.run(infeed, 5);
    return trainer.parameters().get<float>("w")[0];
  };
  EXPECT_EQ(train(1), train(1024));  // powers of two round nothing
}

TEST(LossScale, RefusesWhatMakesNoSense) {
  SingleStrategy strategy(Context::fromEnvironment());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const LossScale& bad :
       {LossScale{.initial = 0}, LossScale{.initial = kInfinity}, LossScale{.initial = 1e300},
        LossScale{.initial = 1e-300}, LossScale{.initial = std::nan("")}, LossScale{.growth = kInfinity},
        LossScale{.growth = 0.5}, LossScale{.backoff = 2}, LossScale{.growth_interval = 0}}) {
    EXPECT_EQ(errorCodeOf([&] {
                Trainer(strategy, regression::parameters(), [](const MicroBatch&) {}, sgd(1),
                        {.loss_scale = bad});
              }),
              ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace popdist::train
