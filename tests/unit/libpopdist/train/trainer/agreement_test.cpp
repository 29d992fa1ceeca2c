// SPDX-License-Identifier: Apache-2.0
// Instances that were given different arguments hear of it, all of them, and before their weights part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "popdist/error.hpp"
#include "popdist/trainer.hpp"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

struct Arguments {
  Parameters parameters = regression::parameters();
  Optimizer optimizer = sgd(0.1);
  TrainerOptions options{.metrics = {"loss"}};
  std::size_t micro_batch = 2;
  std::uint64_t updates = 1;
};

/// The message on each of three instances, of which the last one has changed its arguments.
std::vector<std::string> heard(const std::function<void(Arguments&)>& change) {
  std::vector<std::string> messages(3);
  popdist::testing::ThreadGroup group(3);
  group.run([&](Context& context) {
    const auto self = static_cast<std::size_t>(context.instanceIndex());
    Arguments given;
    if (self == 2) change(given);
    PopDistStrategy strategy(context);
    try {
      Trainer trainer(
          strategy, given.parameters, [](const MicroBatch&) {}, given.optimizer, given.options);
      trainer.initialise(1);
      io::Infeed infeed = regression::feed(context, given.micro_batch);
      trainer.run(infeed, given.updates);
    } catch (const popdist_error& error) {
      messages[self] = error.what();
      EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
    }
  });
  return messages;
}

struct Case {
  std::string name;
  std::string of_instance_0;
  std::string of_instance_2;
  std::function<void(Arguments&)> change;
};

TEST(Agreement, NamesTheFirstArgumentThatDiffersOnAllInstances) {
  const Case cases[] = {
      {"optimizer", "rate (from 0.1)", "adam", [](Arguments& to) { to.optimizer = adam({}); }},
      {"optimizer", "rate (from 0.1)", "rate (from 0.2)", [](Arguments& to) { to.optimizer = sgd(0.2); }},
      {"gradient_scale", "mean of replicas", "'sum'",
       [](Arguments& to) { to.options.gradient_scale = GradientScale::kSum; }},
      {"loss_scale", "static", "dynamic", [](Arguments& to) { to.options.loss_scale.dynamic = true; }},
      {"loss_scale.initial", "'1'", "'8'", [](Arguments& to) { to.options.loss_scale.initial = 8; }},
      {"accumulation.count", "'1'", "'2'", [](Arguments& to) { to.options.accumulation.count = 2; }},
      {"accumulation.reduction", "'sum'", "mean",
       [](Arguments& to) { to.options.accumulation.reduction = Reduction::kMean; }},
      {"replicas_per_optimizer_state", "'1'", "'3'",
       [](Arguments& to) { to.options.replicas_per_optimizer_state = 3; }},
      {"flops_per_micro_batch", "'0'", "'5'", [](Arguments& to) { to.options.flops_per_micro_batch = 5; }},
      {"memory", "activations 0", "activations 9",
       [](Arguments& to) { to.options.memory.activation_bytes = 9; }},
      {"updates", "'1'", "'2'", [](Arguments& to) { to.updates = 2; }},
      {"metrics", "loss", "''", [](Arguments& to) { to.options.metrics = {}; }},
      {"micro-batch", "2", "4", [](Arguments& to) { to.micro_batch = 4; }},
  };
  for (const Case& each : cases) {
    EXPECT_THAT(heard(each.change),
                Each(AllOf(HasSubstr(each.name), HasSubstr(each.of_instance_0), HasSubstr(each.of_instance_2),
                           HasSubstr("instance 0"), HasSubstr("instance 2"))))
        << each.name;
  }
}

/// The code and message on each of three instances, when only the last one's call is wrong.
std::vector<std::pair<ErrorCode, std::string>> refused(const std::function<void(Arguments&)>& change,
                                                       int infeed_replicas) {
  std::vector<std::pair<ErrorCode, std::string>> all(3);
  popdist::testing::ThreadGroup group(3);
  group.run([&](Context& context) {
    const auto self = static_cast<std::size_t>(context.instanceIndex());
    Arguments given;
    if (self == 2) change(given);
    PopDistStrategy strategy(context);
    try {
      Trainer trainer(
          strategy, given.parameters, [](const MicroBatch&) {}, given.optimizer, given.options);
      trainer.initialise(1);
      io::Infeed infeed(regression::samples().batch(2), {.replicas = self == 2 ? infeed_replicas : 1});
      trainer.run(infeed, 1);
    } catch (const popdist_error& error) {
      all[self] = {error.code(), error.what()};
    }
  });
  return all;
}

TEST(Agreement, IsWaitedForByNobodyWhenOneInstanceRefusesItsArguments) {
  const auto expect = [](const auto& all, const std::string& mistake) {
    EXPECT_EQ(all[2].first, ErrorCode::kInvalidArgument);
    EXPECT_THAT(all[2].second, HasSubstr(mistake));
    for (const int other : {0, 1}) {
      EXPECT_EQ(all[static_cast<std::size_t>(other)].first, ErrorCode::kFailedPrecondition);
      EXPECT_THAT(all[static_cast<std::size_t>(other)].second,
                  AllOf(HasSubstr(mistake), HasSubstr("instance 2")));
    }
  };
  expect(refused([](Arguments& to) { to.options.accumulation.count = 0; }, 1), "accumulation.count is 0");
  expect(refused([](Arguments&) {}, 2), "the infeed has 2 replicas");
}

TEST(Agreement, SeesRatesThatPart) {
  EXPECT_THAT(
      heard([](Arguments& to) { to.optimizer = sgd(LearningRate([](std::uint64_t) { return 0.1; })); }),
      Each(std::string()));
  EXPECT_THAT(heard([](Arguments& to) {
                to.optimizer = sgd(LearningRate([](std::uint64_t done) { return done == 0 ? 0.1 : 0.2; }));
                to.updates = 1;
              }),
              Each(std::string()))
      << "the first update is the same";
  std::vector<std::string> messages(3);
  popdist::testing::ThreadGroup group(3);
  group.run([&](Context& context) {
    const auto self = static_cast<std::size_t>(context.instanceIndex());
    PopDistStrategy strategy(context);
    Trainer trainer(
        strategy, regression::parameters(), [](const MicroBatch&) {},
        sgd(cosine(0.1, self == 1 ? 200 : 100)));
    trainer.initialise(1);
    io::Infeed infeed = regression::feed(context, 2);
    try {
      trainer.run(infeed, 5);
    } catch (const popdist_error& error) {
      messages[self] = error.what();
      EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
    }
  });
  EXPECT_THAT(messages, Each(HasSubstr("after update 5 the optimizer's rates")));
}

TEST(Agreement, SeesTheOrderAndTheShapeOfParameters) {
  const auto swapped = [](Arguments& to) {
    to.parameters = Parameters();
    to.parameters.add("b", {1});
    to.parameters.add("w", {regression::kInputs});
  };
  EXPECT_THAT(heard(swapped), Each(HasSubstr("parameters")));
  const auto reshaped = [](Arguments& to) {
    to.parameters = Parameters();
    to.parameters.add("w", {1, regression::kInputs});
    to.parameters.add("b", {1});
  };
  EXPECT_THAT(heard(reshaped), Each(HasSubstr("parameters")));
}

TEST(Agreement, ShowsWhereLongTextsPart) {
  const auto with = [](std::size_t at_the_end) {
    Parameters parameters;
    for (int i = 0; i < 500; ++i) parameters.add("layer" + std::to_string(i), {4});
    parameters.add("last", {at_the_end});
    return parameters;
  };
  std::vector<std::string> messages(2);
  popdist::testing::ThreadGroup group(2);
  group.run([&](Context& context) {
    const auto self = static_cast<std::size_t>(context.instanceIndex());
    PopDistStrategy strategy(context);
    try {
      Trainer(
          strategy, with(5 + self), [](const MicroBatch&) {}, sgd(0.1));
    } catch (const popdist_error& error) {
      messages[self] = error.what();
    }
  });
  EXPECT_THAT(messages, Each(AllOf(HasSubstr("last"), ::testing::Not(HasSubstr("layer7 ")))));
  EXPECT_LT(messages.front().size(), 700U);
}

TEST(Agreement, LetsTheSameTrain) {
  EXPECT_EQ(heard([](Arguments&) {}), std::vector<std::string>(3));
}

}  // namespace
}  // namespace popdist::train
