// SPDX-License-Identifier: Apache-2.0
// Variables on the host: the bits of variables on the devices, parameters that change as soon as their
// gradients are reduced, and what crosses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "popdist/denormals.hpp"
#include "popdist/strategy.hpp"
#include "popdist/trainer.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/strategy/layers.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;
using popdist::testing::GroupShape;
using popdist::testing::ThreadGroup;

struct HostHow {
  std::vector<int> instances;
  bool on_host = true;
  TrainerOptions options{};
  bool tells = true;
  bool over_tcp = false;
};

/// The parameters' bytes after three updates, which all replicas must have.
std::string train(const HostHow& how, const Optimizer& optimizer, bool* by_gradient = nullptr) {
  ThreadGroup group({.replicas_of_instance = how.instances, .instances_per_host = how.over_tcp ? 1 : 0});
  std::mutex mutex;
  std::vector<std::string> outcomes;
  group.run([&](Context& context) {
    IpuMultiWorkerStrategy strategy(context, {.fusion = layers::kBuckets, .variables_on_host = how.on_host});
    Trainer trainer(
        strategy, layers::parameters(),
        [&](const MicroBatch& batch) {
          if (how.tells) return layers::step(batch);
          for (std::size_t parameter = 0; parameter < 4; ++parameter) layers::addGradient(batch, parameter);
        },
        optimizer, how.options);
    trainer.initialise(3);
    io::Infeed infeed = layers::feed(context);
    EXPECT_EQ(trainer.run(infeed, 3).updates, 3U);
    EXPECT_EQ(trainer.updatesDone(), 3U);
    const std::lock_guard lock(mutex);
    if (by_gradient != nullptr) *by_gradient = trainer.updatesByGradient();
    for (int local = 0; local < context.numLocalReplicas(); ++local)
      outcomes.push_back(layers::bytesOf(trainer.parametersOf(local)));
  });
  for (const std::string& each : outcomes) EXPECT_TRUE(each == outcomes.front());
  return outcomes.front();
}

class HostVariables : public ::testing::TestWithParam<std::vector<int>> {};
INSTANTIATE_TEST_SUITE_P(Splits, HostVariables,
                         ::testing::Values(std::vector<int>{1}, std::vector<int>{2}, std::vector<int>{1, 1},
                                           std::vector<int>{2, 2}, std::vector<int>{1, 1, 1}));

TEST_P(HostVariables, GiveTheBitsOfVariablesOnTheDevices) {
  const Optimizer optimizers[] = {adamw({.weight_decay = 0.1}), momentum({}),
                                  lamb({.rate = 0.01, .weight_decay = 0.1}),
                                  chain(clipByGlobalNorm(1), adam({}))};
  const bool by_gradient[] = {true, true, true, false};
  for (std::size_t i = 0; i < std::size(optimizers); ++i) {
    const std::string on_devices = train({.instances = GetParam(), .on_host = false}, optimizers[i]);
    bool is_by_gradient = !by_gradient[i];
    EXPECT_TRUE(train({.instances = GetParam()}, optimizers[i], &is_by_gradient) == on_devices) << i;
    EXPECT_EQ(is_by_gradient, by_gradient[i]);
    if (i > 0) continue;
    EXPECT_TRUE(train({.instances = GetParam(), .tells = false}, optimizers[i]) == on_devices) << i;
  }
}

TEST_P(HostVariables, GiveThemWithAccumulatorsOfAnotherType) {
  const TrainerOptions options{
      .accumulation = {.count = 3, .reduction = Reduction::kMean, .type = Type::kBfloat16},
      .gradient_scale = GradientScale::kSum,
      .loss_scale = {.initial = 4}};
  const Optimizer optimizer = castGradients(lamb({.rate = 0.01}));
  const std::string on_devices =
      train({.instances = GetParam(), .on_host = false, .options = options}, optimizer);
  EXPECT_TRUE(train({.instances = GetParam(), .options = options}, optimizer) == on_devices);
}

TEST(HostVariablesOverHosts, GiveTheBitsOfVariablesOnTheDevices) {
  const std::string on_devices = train({.instances = {2, 2}, .on_host = false, .over_tcp = true}, adam({}));
  EXPECT_TRUE(train({.instances = {2, 2}, .over_tcp = true}, adam({})) == on_devices);
}

TEST(HostVariables, WaitWhereAnUpdateNeedsAllGradients) {
  const auto by_gradient = [](const TrainerOptions& options, const Optimizer& optimizer) {
    bool is = false;
    train({.instances = {2, 2}, .options = options}, optimizer, &is);
    return is;
  };
  EXPECT_TRUE(by_gradient({}, lamb({})));
  EXPECT_TRUE(by_gradient({.loss_scale = {.initial = 8}}, adam({})));
  EXPECT_TRUE(by_gradient({.replicas_per_optimizer_state = 2}, adam({})));
  EXPECT_FALSE(by_gradient({.replicas_per_optimizer_state = 4}, adam({})));
  EXPECT_FALSE(by_gradient({.loss_scale = {.initial = 8, .dynamic = true}}, adam({})));
  EXPECT_FALSE(by_gradient({}, chain(clipByGlobalNorm(1), sgd(1))));
}

/// Events of an instance, in its order.
class Events {
 public:
  void add(const std::string& event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
    changed_.notify_all();
  }
  bool await(const std::string& event) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(15), [&] {
      return std::find(events_.begin(), events_.end(), event) != events_.end();
    });
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> events_;
};

// The backward pass waits at each layer for the update of the one after it.
TEST(HostVariables, LastLayerIsUpdatedBeforeTheFirstGradientIsThere) {
  ThreadGroup group({.replicas_of_instance = {2, 1}});
  group.run([&](Context& context) {
    Events events;
    const auto record = [&](const Block& block) {
      const bool is_end = block.first + block.update.size() == block.parameter.elements();
      if (is_end) events.add("update " + block.parameter.name);
    };
    const Optimizer optimizer = chain(mapGradients("record", record), adam({}));
    IpuMultiWorkerStrategy strategy(context, {.fusion = layers::kBuckets, .variables_on_host = true});
    const bool is_last_replica_of[] = {false, true};
    Trainer trainer(
        strategy, layers::parameters(),
        [&](const MicroBatch& batch) {
          const Spec& spec = batch.parameters.spec();
          const std::string before = layers::bytesOf(batch.parameters);
          const bool last = context.numLocalReplicas() == 1 || is_last_replica_of[batch.local_replica];
          for (std::size_t parameter = spec.size(); parameter-- > 0;) {
            layers::addGradient(batch, parameter);
            if (last) events.add("gradient " + spec[parameter].name);
            batch.ready(parameter);
            if (!last) continue;
            EXPECT_TRUE(events.await("update " + spec[parameter].name));
          }
          // The device has the parameters of the update before until all of it is done.
          EXPECT_TRUE(layers::bytesOf(batch.parameters) == before);
        },
        optimizer);
    trainer.initialise(1);
    io::Infeed infeed = layers::feed(context);
    trainer.run(infeed, 1);
    EXPECT_THAT(events.all(),
                ::testing::ElementsAre("gradient last", "update last", "gradient third", "update third",
                                       "gradient second", "update second", "gradient first", "update first"));
  });
}

TEST(HostVariables, AreUpdatedWithTheDenormalsOfTheTrainingsThread) {
  Context& context = Context::fromEnvironment();
  IpuMultiWorkerStrategy strategy(context, {.variables_on_host = true});  // its thread keeps them
  const FlushDenormals flush;
  Parameters parameters;
  parameters.add("w", {1});
  Trainer trainer(
      strategy, parameters,
      [](const MicroBatch& batch) {
        constexpr std::uint32_t kDenormal = 1;
        std::memcpy(batch.gradients.get<float>(0).data(), &kDenormal, sizeof kDenormal);
      },
      sgd(1));
  ASSERT_TRUE(trainer.updatesByGradient());
  trainer.initialise(1);
  io::Infeed infeed = layers::feed(context);
  trainer.run(infeed, 1);
  if (!FlushDenormals::isSupported()) GTEST_SKIP() << "this CPU keeps them";
  EXPECT_EQ(layers::bytesOf(trainer.parameters()), std::string(4, '\0'));
}

TEST(HostVariables, ErrorsOfTheOptimizerReachTheTraining) {
  Context& context = Context::fromEnvironment();
  IpuMultiWorkerStrategy strategy(context, {.fusion = layers::kBuckets, .variables_on_host = true});
  Trainer trainer(strategy, layers::parameters(), layers::step,
                  chain(mapGradients("fail",
                                     [](const Block& block) {
                                       if (block.parameter.name == "third")
                                         throw std::runtime_error("no third");
                                     }),
                        sgd(1)));
  trainer.initialise(1);
  const std::string before = layers::bytesOf(trainer.parameters());
  io::Infeed infeed = layers::feed(context);
  EXPECT_THROW(trainer.run(infeed, 1), std::runtime_error);
  EXPECT_TRUE(layers::bytesOf(trainer.parameters()) == before);
}

TEST(HostVariables, AStepThatThrowsInTheMiddleLeavesTheParameters) {
  Context& context = Context::fromEnvironment();
  IpuMultiWorkerStrategy strategy(context, {.fusion = layers::kBuckets, .variables_on_host = true});
  Trainer trainer(
      strategy, layers::parameters(),
      [](const MicroBatch& batch) {
        layers::addGradient(batch, 3);
        batch.ready(3);
        throw std::runtime_error("the step");
      },
      sgd(1));
  trainer.initialise(1);
  const std::string before = layers::bytesOf(trainer.parameters());
  io::Infeed infeed = layers::feed(context);
  EXPECT_THROW(trainer.run(infeed, 1), std::runtime_error);
  EXPECT_TRUE(layers::bytesOf(trainer.parameters()) == before);
}

TEST(HostVariables, GoOnFromACheckpointOfVariablesOnDevices) {
  const pop::testing::TempDir directory;
  const auto run = [&](bool on_host, std::uint64_t updates, bool save) {
    std::string outcome;
    ThreadGroup group({.replicas_of_instance = {1, 2}});
    group.run([&](Context& context) {
      IpuMultiWorkerStrategy strategy(context, {.variables_on_host = on_host});
      Trainer trainer(strategy, layers::parameters(), layers::step, adam({}));
      io::Infeed infeed = layers::feed(context);
      Checkpoints checkpoints(context, {.directory = directory.path()});
      if (!trainer.resume(checkpoints, infeed)) trainer.initialise(3);
      trainer.run(infeed, updates);
      if (save) trainer.save(checkpoints, infeed);
      checkpoints.wait();
      if (context.instanceIndex() == 0) outcome = layers::bytesOf(trainer.parameters());
    });
    return outcome;
  };
  const std::string whole = run(false, 6, false);
  run(true, 2, true);
  run(false, 2, true);
  EXPECT_TRUE(run(true, 2, false) == whole);
}

// 1,024 floats on 4 replicas: each sends a quarter of the gradients, and gets one of the parameters.
TEST(DeviceTimes, CountWhatCrossesOverEachReplicasLink) {
  const auto after = [](const std::vector<int>& instances, bool on_host) {
    ThreadGroup group({.replicas_of_instance = instances});
    DeviceTimes times;
    group.run([&](Context& context) {
      IpuMultiWorkerStrategy strategy(context, {.variables_on_host = on_host});
      Parameters parameters;
      parameters.add("w", {1024}, constant(0), Type::kHalf);
      Trainer trainer(strategy, parameters, [](const MicroBatch&) {}, castGradients(sgd(1)),
                      {.accumulation = {.type = Type::kFloat}});
      trainer.parametersOf(0);  // zeros: initialise() would count what it sends
      io::Infeed infeed = layers::feed(context);
      trainer.run(infeed, 10);
      if (context.instanceIndex() == 0) times = strategy.deviceTimes();
    });
    return times;
  };
  const DeviceTimes on_host = after({4, 4}, true);
  EXPECT_EQ(on_host.out_bytes, 10 * 4096U / 4);
  EXPECT_EQ(on_host.in_bytes, 10 * 2048U / 4);
  EXPECT_GT(on_host.links, SimulatedTime(0));
  EXPECT_EQ(on_host.host, SimulatedTime(10 * (1024 + 512) * 1000 / 32));  // 32 GB/s
  EXPECT_EQ(on_host.all, on_host.links + on_host.host);
  const DeviceTimes on_device = after({4, 4}, false);
  EXPECT_EQ(on_device.out_bytes, 10 * 4096U / 4);
  EXPECT_EQ(on_device.in_bytes, 10 * 4096U / 4);  // sums of gradients
  EXPECT_EQ(after({4}, true).in_bytes, 10 * 2048U / 4);
  const DeviceTimes alone = after({4}, false);
  EXPECT_EQ(alone.out_bytes + alone.in_bytes, 0U);
  EXPECT_GT(alone.links, SimulatedTime(0));
}

TEST(DeviceTimes, CountComputeAsAPodDoes) {
  Context& context = Context::fromEnvironment();
  IpuMultiWorkerStrategy strategy(context);
  PopDistStrategy pod(context);
  strategy.advanceCompute(1e12);
  pod.advanceCompute(1e12);
  EXPECT_EQ(strategy.deviceTimes().all, pod.pod().time());
  strategy.advance(SimulatedTime(5));
  EXPECT_EQ(strategy.deviceTimes().all, pod.pod().time() + SimulatedTime(5));
  EXPECT_EQ(errorCodeOf([&] { strategy.advance(SimulatedTime(-1)); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { strategy.advanceCompute(-1); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace popdist::train
