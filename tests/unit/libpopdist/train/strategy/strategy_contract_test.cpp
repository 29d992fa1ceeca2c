// SPDX-License-Identifier: Apache-2.0
// The contract of every strategy, with one program that differs in the strategy's name alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "popdist/strategy.hpp"
#include "popdist/trainer.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;
using popdist::testing::ThreadGroup;

constexpr std::size_t kGlobalBatch = 16;
constexpr int kContractUpdates = 6;

struct ContractOutcome {
  std::vector<float> weights;
  double loss = 0;
};

struct ContractHow {
  int accumulation = 1;
  GradientScale scale = GradientScale::kMeanOfReplicas;
  bool streams = false;  ///< tells as soon as gradients are final
  int replicas_per_state = 1;
};

std::unique_ptr<Strategy> strategyOf(const std::string& name, Context& context) {
  if (name == "multiworkerOnHost")
    return std::make_unique<IpuMultiWorkerStrategy>(context,
                                                    IpuMultiWorkerOptions{.variables_on_host = true});
  return strategyNamed(name, context);
}

/// The program. Every replica of every instance must end with the same weights.
ContractOutcome train(const std::string& strategy_name, const std::vector<int>& replicas_of_instance,
                      const ContractHow& how = {}) {
  ThreadGroup group({.replicas_of_instance = replicas_of_instance});
  std::mutex mutex;
  std::vector<ContractOutcome> outcomes;
  group.run([&](Context& context) {
    const std::unique_ptr<Strategy> strategy = strategyOf(strategy_name, context);
    const std::size_t micro_batch =
        kGlobalBatch / static_cast<std::size_t>(strategy->numReplicas() * how.accumulation);
    float divisor = kGlobalBatch;
    if (how.scale == GradientScale::kMeanOfReplicas) divisor /= static_cast<float>(strategy->numReplicas());
    if (how.scale == GradientScale::kMeanOfWorkers) divisor /= static_cast<float>(strategy->numWorkers());
    Trainer trainer(*strategy, regression::parameters(),
                    [&](const MicroBatch& batch) {
                      regression::addGradients(batch, 1 / divisor);
                      if (!how.streams) return;
                      batch.ready(1);
                      batch.ready(0);
                    },
                    momentum({.rate = 0.2, .momentum = 0.5}),
                    {.accumulation = {.count = how.accumulation},
                     .gradient_scale = how.scale,
                     .replicas_per_optimizer_state = how.replicas_per_state,
                     .metrics = {"loss"}});
    trainer.initialise(42);
    io::Infeed infeed = regression::feed(context, micro_batch);
    const Progress progress = trainer.run(infeed, kContractUpdates);
    EXPECT_EQ(progress.updates, static_cast<std::uint64_t>(kContractUpdates));
    EXPECT_EQ(progress.micro_batches,
              static_cast<std::uint64_t>(kContractUpdates * how.accumulation * strategy->numReplicas()));
    EXPECT_EQ(trainer.samplesPerUpdate(static_cast<int>(micro_batch)), static_cast<int>(kGlobalBatch));
    const std::lock_guard lock(mutex);
    for (int local = 0; local < strategy->numLocalReplicas(); ++local) {
      ContractOutcome outcome{.weights = {}, .loss = progress.sum("loss")};
      for (const char* name : {"w", "b"}) {
        const auto values = trainer.parametersOf(local).get<float>(name);
        outcome.weights.insert(outcome.weights.end(), values.begin(), values.end());
      }
      outcomes.push_back(outcome);
    }
  });
  for (const ContractOutcome& each : outcomes) {
    EXPECT_THAT(each.weights, ::testing::ElementsAreArray(outcomes.front().weights));
    EXPECT_EQ(each.loss, outcomes.front().loss);
  }
  return outcomes.front();
}

/// One replica with the whole batch, in double.
ContractOutcome textbook() {
  Tensors start(regression::parameters().spec());
  regression::parameters().initialise(start.refs(), 42);
  std::vector<double> weights(start.get<float>("w").begin(), start.get<float>("w").end());
  weights.push_back(0.25);
  std::vector<double> velocity(4);
  double loss = 0;
  const io::Dataset samples = regression::samples();
  Tensors sample(samples.spec());
  for (std::uint64_t update = 0; update < kContractUpdates; ++update) {
    std::vector<double> gradient(4);
    for (std::uint64_t i = 0; i < kGlobalBatch; ++i) {
      samples.read(0, update * kGlobalBatch + i, sample);
      const auto x = sample.get<float>("x");
      double error = weights[3] - static_cast<double>(sample.get<float>("y")[0]);
      for (std::size_t j = 0; j < 3; ++j) error += weights[j] * static_cast<double>(x[j]);
      for (std::size_t j = 0; j < 3; ++j) gradient[j] += error * static_cast<double>(x[j]) / kGlobalBatch;
      gradient[3] += error / kGlobalBatch;
      loss += 0.5 * error * error;
    }
    for (std::size_t j = 0; j < 4; ++j) {
      velocity[j] = 0.5 * velocity[j] + gradient[j];
      weights[j] -= 0.2 * velocity[j];
    }
  }
  ContractOutcome outcome{.weights = {}, .loss = loss};
  for (const double weight : weights) outcome.weights.push_back(static_cast<float>(weight));
  return outcome;
}

void expectTextbook(const ContractOutcome& outcome) {
  static const ContractOutcome expected = textbook();
  EXPECT_THAT(outcome.weights, ::testing::Pointwise(::testing::FloatNear(1e-5F), expected.weights));
  EXPECT_NEAR(outcome.loss, expected.loss, 1e-4);
}

struct StrategyCase {
  std::string strategy;
  std::vector<int> instances;  ///< replicas of each
};

int replicasOf(const std::vector<int>& instances) {
  return std::accumulate(instances.begin(), instances.end(), 0);
}

#ifdef __SANITIZE_ADDRESS__
const std::vector<std::vector<int>> kSplits{{1}, {2, 2}};
#else
const std::vector<std::vector<int>> kSplits{{1}, {4}, {1, 1}, {2, 2}, {1, 1, 1, 1}};
#endif

std::vector<StrategyCase> everyCase() {
  std::vector<StrategyCase> cases;
  for (const char* name : {"popdist", "multiworker", "multiworkerOnHost", "horovod", "hpu", "single"}) {
    for (const std::vector<int>& instances : kSplits) {
      const bool several_replicas = replicasOf(instances) > static_cast<int>(instances.size());
      if (name == std::string("single") && instances.size() > 1) continue;
      if (name == std::string("hpu") && several_replicas) continue;
      cases.push_back({name, instances});
    }
  }
  return cases;
}

class StrategyContract : public ::testing::TestWithParam<StrategyCase> {
 protected:
  const std::string& name() const { return GetParam().strategy; }
  const std::vector<int>& instances() const { return GetParam().instances; }
};

TEST_P(StrategyContract, TrainsAsOneReplicaWithTheWholeBatch) {
  expectTextbook(train(name(), instances()));
}

TEST_P(StrategyContract, AccumulatesMicroBatches) {
  expectTextbook(train(name(), instances(), {.accumulation = 2}));
  expectTextbook(train(name(), instances(), {.accumulation = 4, .streams = true}));
}

TEST_P(StrategyContract, GivesTheSameWhenGradientsAreToldOf) {
  const ContractOutcome told = train(name(), instances(), {.streams = true});
  EXPECT_THAT(told.weights, ::testing::ElementsAreArray(train(name(), instances()).weights));
}

TEST_P(StrategyContract, DividesAsTheScaleSays) {
  for (const GradientScale scale : {GradientScale::kMeanOfWorkers, GradientScale::kSum})
    expectTextbook(train(name(), instances(), {.scale = scale}));
}

TEST_P(StrategyContract, GivesTheSameWithSharedState) {
  const ContractOutcome shared = train(name(), instances(), {.replicas_per_state = replicasOf(instances())});
  EXPECT_THAT(shared.weights, ::testing::ElementsAreArray(train(name(), instances()).weights));
}

std::string nameOfTest(const ::testing::TestParamInfo<StrategyCase>& tested) {
  std::string name = tested.param.strategy + "Of";
  for (const int replicas : tested.param.instances) name += std::to_string(replicas);
  return name;
}

INSTANTIATE_TEST_SUITE_P(Strategies, StrategyContract, ::testing::ValuesIn(everyCase()), nameOfTest);

TEST(PopDistStrategy, GivesTheSameBitsForEverySplitOverInstances) {
  const ContractOutcome one = train("popdist", {4});
  for (const std::vector<int>& split : {std::vector<int>{2, 2}, std::vector<int>{1, 1, 1, 1}})
    EXPECT_THAT(train("popdist", split).weights, ::testing::ElementsAreArray(one.weights));
}

// Each replica gets its part of the sums alone; and the parameters' parts are gathered.
TEST(PopDistStrategy, GivesTheSameBitsHoweverTheStateIsShared) {
  const ContractOutcome one = train("popdist", {8});
  for (const int shared : {1, 2, 4, 8}) {
    for (const std::vector<int>& split :
         {std::vector<int>{8}, std::vector<int>{4, 4}, std::vector<int>{2, 2, 2, 2}, std::vector<int>(8, 1)})
      EXPECT_THAT(train("popdist", split, {.replicas_per_state = shared}).weights,
                  ::testing::ElementsAreArray(one.weights))
          << shared << " replicas share, of " << split.size() << " instances";
  }
}

TEST(Strategies, ShowTheirPodIfTheyHaveOne) {
  Context& context = Context::fromEnvironment();
  for (const char* const name : {"multiworker", "horovod", "single", "hpu"})
    EXPECT_EQ(strategyNamed(name, context)->simulatedPod(), nullptr) << name;
  const std::unique_ptr<Strategy> strategy = strategyNamed("popdist", context);
  strategy->advance(SimulatedTime(7));
  ASSERT_NE(strategy->simulatedPod(), nullptr);
  EXPECT_EQ(strategy->simulatedPod()->time(), SimulatedTime(7));
}

TEST(Strategies, RefuseWhatTheyCannotDo) {
  EXPECT_EQ(errorCodeOf([] { strategyNamed("mirrored", Context::fromEnvironment()); }),
            ErrorCode::kInvalidArgument);
  ThreadGroup group({.replicas_of_instance = {2, 2}});
  group.run([](Context& context) {
    EXPECT_EQ(errorCodeOf([&] { HpuStrategy strategy(context); }), ErrorCode::kInvalidArgument);
    EXPECT_EQ(errorCodeOf([&] { SingleStrategy strategy(context); }), ErrorCode::kFailedPrecondition);
  });
}

}  // namespace
}  // namespace popdist::train
