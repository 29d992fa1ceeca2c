// SPDX-License-Identifier: Apache-2.0
// One update on all replicas: the same bits however the state is shared, and what is refused.
#include "popdist/weight_update.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "popdist/strategy.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/thread_group.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;
using popdist::testing::ThreadGroup;

const Spec kUpdatedModel{
    {"a", Type::kFloat, {5}}, {"b", Type::kFloat, {3, 4100}}, {"c", Type::kFloat, {70, 100}}};
const Spec kHalves{{"a", Type::kHalf, {5}}, {"b", Type::kHalf, {3, 4100}}, {"c", Type::kBfloat16, {70, 100}}};
const Spec kMixed{{"a", Type::kFloat, {5}}, {"b", Type::kHalf, {3, 4100}}, {"c", Type::kFloat, {70, 100}}};

Optimizer everything() {
  return chain(clipByGlobalNorm(10), lamb({.rate = 0.01, .weight_decay = 0.1}));
}

TEST(WeightUpdate, RefusesTransformsThatCannotWork) {
  const auto code = [](Optimizer optimizer) {
    return errorCodeOf(
        [&] { WeightUpdate(Context::fromEnvironment(), kUpdatedModel, kUpdatedModel, optimizer); });
  };
  const auto nothing = [](const Block&) {};
  const Transform keeps{.name = "mine", .state = {"m"}, .apply = nothing};
  EXPECT_EQ(code({{keeps}}), std::nullopt);
  EXPECT_EQ(code({{{.name = "mine"}}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({{keeps, keeps}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({{{.name = "mine", .state = {"m", "m"}, .apply = nothing}}}), ErrorCode::kInvalidArgument);
}

void setAll(FlatTensors& tensors, int what) {
  int at = 0;
  for (const FlatTensors::Run& run : tensors.runs()) {
    for (std::size_t i = 0; i < run.elements; ++i, ++at) {
      const auto value = static_cast<float>(std::sin(0.1 * at + what));
      if (run.type == Type::kFloat) reinterpret_cast<float*>(run.data)[i] = value;
      if (run.type == Type::kHalf) reinterpret_cast<half*>(run.data)[i] = half(value);
      if (run.type == Type::kBfloat16) reinterpret_cast<bfloat16*>(run.data)[i] = bfloat16(value);
    }
  }
}

std::vector<FlatTensors> replicas(Context& context, const Spec& spec) {
  std::vector<FlatTensors> values;
  for (int local = 0; local < context.numLocalReplicas(); ++local) {
    values.emplace_back(context, spec);
    setAll(values.back(), 0);
  }
  return values;
}

/// The values of a tensor as they lie in memory, without what is between tensors.
std::string bytesOf(FlatTensors& values) {
  std::string all;
  for (std::size_t i = 0; i < values.spec().size(); ++i) {
    const auto bytes = values.refs().bytes(i);
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return all;
}

/// The bytes of all replicas after five updates; they must be the same.
std::string train(const std::vector<int>& replicas_of_instance, int replicas_per_state,
                  const Spec& parameters, const Optimizer& optimizer) {
  ThreadGroup group({.replicas_of_instance = replicas_of_instance});
  std::mutex mutex;
  std::vector<std::string> results;
  group.run([&](Context& context) {
    FlatTensors gradients(context, kUpdatedModel);
    std::vector<FlatTensors> values = replicas(context, parameters);
    WeightUpdate update(context, parameters, kUpdatedModel, optimizer,
                        {.replicas_per_state = replicas_per_state});
    for (int step = 1; step <= 5; ++step) {
      setAll(gradients, step);
      ASSERT_TRUE(update.apply(gradients, values, 0.25));
    }
    const std::lock_guard lock(mutex);
    for (FlatTensors& each : values) results.push_back(bytesOf(each));
  });
  for (const std::string& each : results) EXPECT_TRUE(each == results.front());
  return results.front();
}

TEST(WeightUpdate, GivesTheSameBitsHoweverTheStateIsShared) {
  const std::string alone = train({1}, 1, kUpdatedModel, everything());
  EXPECT_TRUE(train({4}, 1, kUpdatedModel, everything()) == alone);
  EXPECT_TRUE(train({4}, 4, kUpdatedModel, everything()) == alone);
  EXPECT_TRUE(train({1, 1, 1, 1}, 1, kUpdatedModel, everything()) == alone);
  EXPECT_TRUE(train({1, 1, 1, 1}, 2, kUpdatedModel, everything()) == alone);
  EXPECT_TRUE(train({1, 1, 1, 1}, 4, kUpdatedModel, everything()) == alone);
  EXPECT_TRUE(train({2, 2}, 4, kUpdatedModel, everything()) == alone);
  EXPECT_TRUE(train({1, 1, 1}, 3, kUpdatedModel, everything()) == alone);
}

/// The same, with the Pod's sums of gradients that are others on each replica.
std::string trainOnPod(const std::vector<int>& replicas_of_instance, int replicas_per_state) {
  ThreadGroup group({.replicas_of_instance = replicas_of_instance});
  std::mutex mutex;
  std::vector<std::string> results;
  group.run([&](Context& context) {
    PopDistStrategy strategy(context);
    std::vector<FlatTensors> gradients = replicas(context, kMixed);
    std::vector<FlatTensors> values = replicas(context, kUpdatedModel);
    WeightUpdate update(context, kUpdatedModel, kMixed, castGradients(everything()),
                        {.replicas_per_state = replicas_per_state});
    const auto reduction = strategy.reductionOfParts(gradients, update.sharing());
    for (int step = 1; step <= 3; ++step) {
      for (std::size_t local = 0; local < gradients.size(); ++local)
        setAll(gradients[local], 10 * step + strategy.firstReplica() + static_cast<int>(local));
      reduction->wait();
      ASSERT_TRUE(update.apply(gradients.front(), values, 0.25));
    }
    const std::lock_guard lock(mutex);
    for (FlatTensors& each : values) results.push_back(bytesOf(each));
  });
  for (const std::string& each : results) EXPECT_TRUE(each == results.front());
  return results.front();
}

TEST(WeightUpdate, GivesTheSameBitsFromPartsOfThePodsSums) {
  const std::string alone = trainOnPod({8}, 1);
  for (const int shared : {1, 2, 4, 8}) {
    EXPECT_TRUE(trainOnPod({8}, shared) == alone) << shared;
    EXPECT_TRUE(trainOnPod({4, 4}, shared) == alone) << shared;
    EXPECT_TRUE(trainOnPod({2, 2, 2, 2}, shared) == alone) << shared;
  }
}

TEST(WeightUpdate, PreparesATransformOnceForAllBlocks) {
  Context& context = Context::fromEnvironment();
  FlatTensors gradients(context, kUpdatedModel);
  std::vector<FlatTensors> values = replicas(context, kUpdatedModel);
  std::vector<std::uint64_t> prepared;
  int blocks = 0;
  const Transform counting{.name = "counting",
                           .prepare =
                               [&](std::uint64_t done) {
                                 prepared.push_back(done);
                                 return std::vector{static_cast<double>(done) + 0.5};
                               },
                           .apply =
                               [&](const Block& block) {
                                 ++blocks;
                                 EXPECT_EQ(block.of_update[0], static_cast<double>(block.updates_done) + 0.5);
                               }};
  WeightUpdate update(context, kUpdatedModel, kUpdatedModel,
                      chain(clipByGlobalNorm(1), Optimizer{{counting}}, sgd(1)));
  for (int i = 0; i < 3; ++i) update.apply(gradients, values);
  EXPECT_THAT(prepared, ::testing::ElementsAre(0U, 1U, 2U));
  EXPECT_EQ(blocks, 3 * 7);
}

TEST(WeightUpdate, ChangesParametersOf16BitsByGradientsOfFloats) {
  const Optimizer optimizer = castGradients(everything());
  const std::string alone = train({1}, 1, kHalves, optimizer);
  EXPECT_TRUE(train({1, 1}, 2, kHalves, optimizer) == alone);
  EXPECT_TRUE(train({2, 2}, 4, kHalves, optimizer) == alone);
  half first;
  std::memcpy(&first, alone.data(), sizeof first);
  EXPECT_NE(static_cast<float>(first), 0);
}

TEST(WeightUpdate, AccumulatorsOf16BitsAreCalculatedWithAsFloats) {
  Context& context = Context::fromEnvironment();
  FlatTensors gradients(context, kHalves);
  setAll(gradients, 1);
  std::vector<FlatTensors> values = replicas(context, kHalves);
  WeightUpdate update(context, kHalves, kHalves, chain(clipByGlobalNorm(1e9), sgd(0.5)));
  ASSERT_TRUE(update.apply(gradients, values));
  const auto b = values[0].refs().get<half>("b");
  FlatTensors before(context, kHalves);
  setAll(before, 0);
  setAll(gradients, 1);
  const float expected = static_cast<float>(before.refs().get<half>("b")[4099]) -
                         0.5F * static_cast<float>(gradients.refs().get<half>("b")[4099]);
  EXPECT_EQ(b[4099].bits, half(expected).bits);
}

TEST(WeightUpdate, MembersKeepPartsThatTogetherAreTheState) {
  ThreadGroup group({.replicas_of_instance = {1, 1, 1, 1}});
  std::mutex mutex;
  std::map<std::string, std::map<std::size_t, std::size_t>> parts;  // by tensor: first, elements
  std::size_t bytes = 0;
  group.run([&](Context& context) {
    WeightUpdate update(context, kUpdatedModel, kUpdatedModel, adam({}), {.replicas_per_state = 4});
    const std::lock_guard lock(mutex);
    bytes += update.stateBytes();
    for (const Piece& piece : update.state())
      parts[piece.name][piece.first] = piece.bytes.size() / sizeof(float);
  });
  EXPECT_EQ(bytes, 2 * (5 + 12300 + 7000) * sizeof(float));
  ASSERT_THAT(parts, ::testing::SizeIs(6));
  for (const auto& [name, at] : parts) {
    std::size_t next = 0;
    for (const auto& [first, elements] : at) {
      EXPECT_EQ(first, next) << name;
      next = first + elements;
    }
    EXPECT_EQ(next, name.back() == 'a' ? 5U : name.back() == 'b' ? 12300U : 7000U) << name;
  }
  EXPECT_TRUE(parts.contains("adam.m/b"));
  EXPECT_GT(parts["adam.v/b"].size(), 1U);
}

TEST(WeightUpdate, GoesOnFromTheStateOfAnother) {
  Context& context = Context::fromEnvironment();
  FlatTensors gradients(context, kUpdatedModel);
  std::vector<FlatTensors> values = replicas(context, kUpdatedModel);
  WeightUpdate first(context, kUpdatedModel, kUpdatedModel, adam({}));
  setAll(gradients, 1);
  first.apply(gradients, values);
  WeightUpdate second(context, kUpdatedModel, kUpdatedModel, adam({}));
  std::vector<Piece> from = first.state();
  std::vector<Piece> to = second.state();
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    std::copy(from[i].bytes.begin(), from[i].bytes.end(), to[i].bytes.begin());
  second.setUpdatesDone(first.updatesDone());
  std::vector<FlatTensors> others = replicas(context, kUpdatedModel);
  std::memcpy(others[0].bytes().data(), values[0].bytes().data(), values[0].bytes().size());
  setAll(gradients, 2);
  first.apply(gradients, values);
  setAll(gradients, 2);
  second.apply(gradients, others);
  EXPECT_TRUE(bytesOf(values[0]) == bytesOf(others[0]));
}

TEST(WeightUpdate, SkipsWhatIsNotFiniteOnAllMembersAlike) {
  ThreadGroup group({.replicas_of_instance = {1, 1}});
  group.run([](Context& context) {
    FlatTensors gradients(context, kUpdatedModel);
    std::vector<FlatTensors> values = replicas(context, kUpdatedModel);
    WeightUpdate update(context, kUpdatedModel, kUpdatedModel, adam({}),
                        {.replicas_per_state = 2, .skip_not_finite = true});
    setAll(gradients, 1);
    gradients.refs().get<float>("a")[0] = std::numeric_limits<float>::infinity();  // in blocks of instance 0
    const std::string before = bytesOf(values[0]);
    EXPECT_FALSE(update.apply(gradients, values));
    EXPECT_TRUE(bytesOf(values[0]) == before);
    EXPECT_EQ(update.updatesDone(), 0U);
    setAll(gradients, 1);
    EXPECT_TRUE(update.apply(gradients, values));
    EXPECT_EQ(update.updatesDone(), 1U);
  });
}

TEST(WeightUpdate, RefusesWhatDoesNotFit) {
  Context& context = Context::fromEnvironment();
  const auto make = [&](const Spec& parameters, const Spec& gradients, const Optimizer& optimizer,
                        int shared) {
    return errorCodeOf(
        [&] { WeightUpdate(context, parameters, gradients, optimizer, {.replicas_per_state = shared}); });
  };
  EXPECT_EQ(make(kUpdatedModel, kUpdatedModel, {}, 1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(make(kUpdatedModel, {kUpdatedModel[0]}, sgd(1), 1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(make(kHalves, kUpdatedModel, sgd(1), 1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(make(kHalves, kUpdatedModel, castGradients(sgd(1)), 1), std::nullopt);
  EXPECT_EQ(make(kUpdatedModel, kUpdatedModel, sgd(1), 0), ErrorCode::kInvalidArgument);
  EXPECT_EQ(make(kUpdatedModel, kUpdatedModel, sgd(1), 2), ErrorCode::kInvalidArgument);
  WeightUpdate update(context, kUpdatedModel, kUpdatedModel, sgd(1));
  FlatTensors gradients(context, kUpdatedModel);
  FlatTensors others(context, kHalves);
  std::vector<FlatTensors> none;
  std::vector<FlatTensors> values = replicas(context, kUpdatedModel);
  EXPECT_EQ(errorCodeOf([&] { update.apply(gradients, none); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { update.apply(others, values); }), ErrorCode::kInvalidArgument);
}

TEST(WeightUpdate, RefusesGroupsThatInstancesCannotShare) {
  ThreadGroup group({.replicas_of_instance = {3, 3}});
  group.run([](Context& context) {
    EXPECT_EQ(errorCodeOf([&] {
                WeightUpdate(context, kUpdatedModel, kUpdatedModel, sgd(1), {.replicas_per_state = 2});
              }),
              ErrorCode::kInvalidArgument);
  });
}

}  // namespace
}  // namespace popdist::train
