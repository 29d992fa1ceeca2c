// SPDX-License-Identifier: Apache-2.0
// An exception of a step on one instance reaches all, at once, and all can go on with a new strategy and
// trainer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "popdist/batch_norm.hpp"
#include "popdist/error.hpp"
#include "popdist/trainer.hpp"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::chrono::seconds kAtOnce{5};  // with a deadline of 20 s

struct TooHot : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void failNested() {
  try {
    throw std::out_of_range("sample 17");
  } catch (...) {
    std::throw_with_nested(TooHot("the device is too hot"));
  }
}

class FailingStep : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr int kInstances = 3;
  static constexpr int kFails = 1;

  static Trainer trainerOf(Strategy& strategy, const Step& step) {
    return {strategy, regression::parameters(), step, sgd(0.1), {.metrics = {"loss"}}};
  }

  /// Instance kFails throws what `body` does, and the others hear of it; then all train again.
  static void expectHeard(const std::function<void(Context&, Strategy&)>& body, int instances_per_host = 0) {
    popdist::testing::ThreadGroup group(
        {.replicas_of_instance = std::vector<int>(kInstances, 1), .instances_per_host = instances_per_host});
    group.run([&](Context& context) {
      const auto begin = std::chrono::steady_clock::now();
      {
        const std::unique_ptr<Strategy> strategy = strategyNamed(GetParam(), context);
        try {
          body(context, *strategy);
          ADD_FAILURE() << "instance " << context.instanceIndex() << " has heard nothing";
        } catch (const TooHot& error) {
          EXPECT_EQ(context.instanceIndex(), kFails) << error.what();
        } catch (const popdist_error& error) {
          EXPECT_NE(context.instanceIndex(), kFails) << error.what();
          EXPECT_EQ(error.code(), ErrorCode::kAborted) << error.what();
          EXPECT_EQ(error.peer(), kFails) << error.what();
          EXPECT_THAT(error.what(), AllOf(HasSubstr("failed on instance 1"), HasSubstr("TooHot"),
                                          HasSubstr("the device is too hot"), HasSubstr("std::out_of_range"),
                                          HasSubstr("sample 17")));
        }
      }
      EXPECT_LT(std::chrono::steady_clock::now() - begin, kAtOnce);
      const std::unique_ptr<Strategy> strategy = strategyNamed(GetParam(), context);
      Trainer again =
          trainerOf(*strategy, [](const MicroBatch& batch) { regression::addGradients(batch, 1); });
      again.initialise(1);
      io::Infeed infeed = regression::feed(context, 2);
      EXPECT_EQ(again.run(infeed, 3).updates, 3U);
    });
  }
};

TEST_P(FailingStep, OfARunIsHeardByAll) {
  for (const std::uint64_t update : {0U, 2U}) {
    for (const int instances_per_host : {0, 1}) {
      SCOPED_TRACE(std::to_string(update) + ", " + std::to_string(instances_per_host));
      expectHeard(
          [&](Context& context, Strategy& strategy) {
            Trainer trainer = trainerOf(strategy, [&](const MicroBatch& batch) {
              regression::addGradients(batch, 1);
              if (context.instanceIndex() == kFails && batch.update == update) failNested();
            });
            trainer.initialise(1);
            io::Infeed infeed = regression::feed(context, 2);
            try {
              trainer.run(infeed, 5);
            } catch (...) {
              EXPECT_EQ(trainer.updates(), update);
              EXPECT_THROW(trainer.run(infeed, 1), popdist_error)
                  << "it can only be asked for its parameters";
              throw;
            }
          },
          instances_per_host);
    }
  }
}

TEST_P(FailingStep, OfAnEvaluationIsHeardByAll) {
  expectHeard([](Context& context, Strategy& strategy) {
    Trainer trainer = trainerOf(strategy, [&](const MicroBatch& batch) {
      if (context.instanceIndex() == kFails && !batch.training) failNested();
    });
    trainer.initialise(1);
    io::Infeed infeed = regression::feed(context, 2);
    trainer.evaluate(infeed);
  });
}

TEST_P(FailingStep, IsHeardByThoseThatWaitInABatchNorm) {
  expectHeard([](Context& context, Strategy& strategy) {
    BatchNorm layer(context, {.channels = 1, .span = 3});
    Trainer trainer = trainerOf(strategy, [&](const MicroBatch&) {
      if (context.instanceIndex() == kFails) failNested();
      const std::vector<float> input{1, 2}, one{1}, zero{0};
      std::vector<float> output(2);
      BatchNormSaved saved;
      const BatchNormForward forward{
          .input = input, .gamma = one, .beta = zero, .output = output, .saved = &saved};
      layer.forward({&forward, 1}, BatchNormPass::kFirst);
    });
    trainer.initialise(1);
    io::Infeed infeed = regression::feed(context, 2);
    trainer.run(infeed, 1);
  });
}

TEST_P(FailingStep, IsHeardByThoseThatCallSomethingElse) {
  expectHeard([](Context& context, Strategy& strategy) {
    const bool fails = context.instanceIndex() == kFails;
    Trainer trainer = trainerOf(strategy, [&](const MicroBatch&) {
      if (fails) failNested();
    });
    trainer.initialise(1);
    io::Infeed infeed = regression::feed(context, 2);
    trainer.run(infeed, 1);
    if (!fails) trainer.evaluate(infeed);
  });
}

// The program's own thread, while the trainer works.
TEST_P(FailingStep, LeavesTheProgramsOwnCollectivesAlone) {
  popdist::testing::ThreadGroup group(2);
  group.run([](Context& context) {
    const std::unique_ptr<Strategy> strategy = strategyNamed(GetParam(), context);
    Trainer trainer =
        trainerOf(*strategy, [](const MicroBatch& batch) { regression::addGradients(batch, 1); });
    trainer.initialise(1);
    io::Infeed infeed(regression::samples().batch(2).repeat().forReplicas(io::InputContext::of(context)));
    int wrong = 0;
    {
      const std::jthread own([&] {
        for (int i = 0; i < 200; ++i) {
          int sum = 1000 * context.instanceIndex() + i;
          context.world().allReduce(std::span(&sum, 1));
          wrong += sum == 1000 + 2 * i ? 0 : 1;
        }
      });
      for (int i = 0; i < 10; ++i) trainer.run(infeed, 3);
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(trainer.updates(), 30U);
  });
}

INSTANTIATE_TEST_SUITE_P(OfStrategies, FailingStep, ::testing::Values("popdist", "multiworker", "horovod"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace popdist::train
