// SPDX-License-Identifier: Apache-2.0
// Several replicas in one instance take their micro-batches in turn: data that comes in sequence only can be
// trained with, and evaluated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "popdist/trainer.hpp"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

using popdist::testing::ThreadGroup;

constexpr std::size_t kMicroBatch = 2;

/// regression::samples(), one after the other only.
io::Dataset sequence() {
  const auto samples = std::make_shared<io::Dataset>(regression::samples());
  return io::Dataset::fromGenerator(samples->spec(), [=](std::uint64_t) -> io::Generator {
    return [samples, next = std::uint64_t{0}](TensorRefs sample) mutable {
      Tensors read(samples->spec());
      if (!samples->read(0, next++, read)) return false;
      for (std::size_t i = 0; i < read.size(); ++i) {
        const auto from = read.get<float>(i);
        std::copy(from.begin(), from.end(), sample.get<float>(i).begin());
      }
      return true;
    };
  });
}

io::Infeed feedOf(const Context& context, io::Dataset dataset) {
  return io::Infeed(std::move(dataset).batch(kMicroBatch).forReplicas(io::InputContext::of(context)),
                    {.replicas = context.numLocalReplicas(), .turn_timeout = std::chrono::milliseconds(500)});
}

struct Outcome {
  std::vector<float> weights;
  double loss = 0;  ///< the evaluation's
};

Outcome train(const std::vector<int>& replicas_of_instance, const std::function<io::Dataset()>& dataset) {
  ThreadGroup group({.replicas_of_instance = replicas_of_instance});
  std::mutex mutex;
  Outcome outcome;
  group.run([&](Context& context) {
    PopDistStrategy strategy(context);
    Trainer trainer(strategy, regression::parameters(),
                    [](const MicroBatch& batch) {
                      regression::addGradients(batch, 0.1F);
                      if (batch.replica == 1) batch.ready(1);
                    },
                    adam({.rate = 0.05}), {.accumulation = {.count = 8}, .metrics = {"loss"}});
    trainer.initialise(5);
    io::Infeed infeed = feedOf(context, dataset());
    EXPECT_EQ(trainer.run(infeed, 1).updates, 1U);
    infeed.start();
    const Progress evaluated = trainer.evaluate(infeed);
    EXPECT_EQ(evaluated.micro_batches, regression::kSamples / kMicroBatch);
    const std::lock_guard lock(mutex);
    const auto weights = trainer.parameters().get<float>("w");
    outcome = {{weights.begin(), weights.end()}, evaluated.sum("loss")};
  });
  return outcome;
}

TEST(ReplicasInTurn, TrainAndEvaluateASequence) {
  const Outcome expected = train({1, 1}, regression::samples);
  const Outcome sequential = train({2}, sequence);
  EXPECT_THAT(sequential.weights, ::testing::ElementsAreArray(expected.weights));
  EXPECT_NEAR(sequential.loss, expected.loss, 1e-9);
}

}  // namespace
}  // namespace popdist::train
