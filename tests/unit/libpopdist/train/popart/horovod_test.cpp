// SPDX-License-Identifier: Apache-2.0
// Sessions of several ranks: what the calls of Horovod make of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "popdist/denormals.hpp"
#include "popdist/popart_horovod.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::popart {
namespace {

namespace regression = train::regression;
using popdist::testing::errorCodeOf;
using popdist::testing::ThreadGroup;
using ::testing::FloatNear;
using ::testing::Pointwise;

/// y = x · w + b in two stages, with half the mean squared error as its loss.
Model model(std::size_t samples) {
  Model model;
  model.weights = regression::parameters();
  model.values = {{"error", Type::kFloat, {samples}}, {"loss", Type::kFloat, {}}};
  model.stages = {{.name = "product",
                   .forward =
                       [](const Batch& batch) {
                         const auto x = batch.input.get<float>("x");
                         const auto w = batch.weights.get<float>("w");
                         const auto error = batch.values.get<float>("error");
                         for (std::size_t i = 0; i < error.size(); ++i) {
                           error[i] = batch.weights.get<float>("b")[0] - batch.input.get<float>("y")[i];
                           for (std::size_t j = 0; j < w.size(); ++j) error[i] += w[j] * x[i * w.size() + j];
                         }
                       },
                   .backward =
                       [](const Batch& batch) {
                         const auto x = batch.input.get<float>("x");
                         const auto dw = batch.gradients.get<float>("w");
                         const auto d_error =
                             batch.values.get<float>("error");  // the stage behind has made it
                         for (std::size_t i = 0; i < d_error.size(); ++i) {
                           for (std::size_t j = 0; j < dw.size(); ++j)
                             dw[j] += d_error[i] * x[i * dw.size() + j];
                           batch.gradients.get<float>("b")[0] += d_error[i];
                         }
                       }},
                  {.name = "loss",
                   .forward =
                       [](const Batch& batch) {
                         float sum = 0;
                         const auto error = batch.values.get<float>("error");
                         for (const float each : error) sum += each * each;
                         batch.values.get<float>("loss")[0] = sum / static_cast<float>(2 * error.size());
                       },
                   .backward =
                       [](const Batch& batch) {
                         const auto error = batch.values.get<float>("error");
                         for (float& each : error) each /= static_cast<float>(error.size());
                       }}};
  return model;
}

struct Shape4 {
  std::vector<int> replicas_of_rank{1};
  std::size_t micro_batch = 4;
  int accumulation = 1;
  int root_rank = 0;
  train::Reduction reduction = train::Reduction::kSum;
};

SessionOptions optionsFor(const Shape4& shape) {
  const int replicas = shape.replicas_of_rank.front();
  return {.host_all_reduce = true,
          .enable_gradient_accumulation = shape.accumulation > 1,
          .accumulation_factor = shape.accumulation,
          .enable_replicated_graphs = replicas > 1,
          .replicated_graph_count = replicas,
          .accumulation_and_replication_reduction = shape.reduction};
}

std::vector<float> weightsOf(const Session& session) {
  const auto w = session.weights().get<float>("w");
  std::vector<float> all(w.begin(), w.end());
  all.push_back(session.weights().get<float>("b")[0]);
  return all;
}

/// The weights of each rank after two runs of three batches. Each rank draws its own first weights; rank
/// root_rank by the seed 7.
std::vector<std::vector<float>> train(const Shape4& shape, double rate = 0.1) {
  std::vector<std::vector<float>> weights(shape.replicas_of_rank.size());
  ThreadGroup group({.replicas_of_instance = shape.replicas_of_rank});
  group.run([&](Context& context) {
    const SessionOptions options = optionsFor(shape);
    const auto rank = static_cast<std::size_t>(context.instanceIndex());
    const bool is_root = context.instanceIndex() == shape.root_rank;
    Session session(context, model(shape.micro_batch), {3, {{"loss", AnchorReturnType("All")}}}, options,
                    Mode::kTraining, is_root ? 7 : 100 + rank);
    hvd::DistributedOptimizer optimizer(train::momentum({.rate = rate}), session, options);
    optimizer.insertHostAllReduce();
    hvd::broadcastWeights(session, shape.root_rank);
    io::Infeed infeed = regression::feed(context, shape.micro_batch);
    for (int run = 0; run < 2; ++run) session.run(infeed);
    weights[rank] = weightsOf(session);
  });
  return weights;
}

TEST(PopartHorovod, AveragesGradientsOverRanksWhoeverHasTheFirstWeights) {
  const std::vector<float> one = train({.replicas_of_rank = {1}, .micro_batch = 12}).front();
  for (const int root_rank : {0, 2}) {
    const auto three = train({.replicas_of_rank = {1, 1, 1}, .micro_batch = 4, .root_rank = root_rank});
    EXPECT_EQ(three[1], three[0]);
    EXPECT_EQ(three[2], three[0]);
    EXPECT_THAT(three[0], Pointwise(FloatNear(1e-5F), one)) << root_rank;
  }
  EXPECT_NE(train({.replicas_of_rank = {1}, .micro_batch = 12}, 0).front(), one) << "nothing was learnt";
}

TEST(PopartHorovod, AddsUpMicroBatchesAndReplicasOrAveragesThem) {
  const std::vector<float> one = train({.replicas_of_rank = {1}, .micro_batch = 16}).front();
  const Shape4 cut{
      .replicas_of_rank = {2, 2}, .micro_batch = 2, .accumulation = 2, .reduction = train::Reduction::kMean};
  EXPECT_THAT(train(cut).front(), Pointwise(FloatNear(1e-5F), one));
  Shape4 summed = cut;
  summed.reduction = train::Reduction::kSum;
  // The sum is 4 times the mean: of 2 micro-batches on 2 replicas. The ranks' is a mean in both.
  EXPECT_THAT(train(summed, 0.025).front(), Pointwise(FloatNear(1e-5F), one));
}

TEST(PopartHorovod, RateChangesBetweenRunsUnlessItIsConstant) {
  const SessionOptions options{.host_all_reduce = true};
  Context& context = Context::fromEnvironment();
  Session session(context, model(4), {2, {}}, options);
  OptimizerValue rate(0, false);
  hvd::DistributedOptimizer(train::sgd(rate), session, options).insertHostAllReduce();
  io::Infeed infeed = regression::feed(context, 4);
  const std::vector<float> before = weightsOf(session);
  session.run(infeed);
  EXPECT_EQ(weightsOf(session), before);
  rate.set(0.1);
  session.run(infeed);
  EXPECT_NE(weightsOf(session), before);
  OptimizerValue constant(0.1);
  EXPECT_EQ(errorCodeOf([&] { constant.set(0.2); }), ErrorCode::kFailedPrecondition);
}

TEST(PopartHorovod, NamesTheCallThatIsMissing) {
  ThreadGroup group(2);
  group.run([&](Context& context) {
    const SessionOptions options{.host_all_reduce = true};
    Session session(context, model(4), {1, {}}, options);
    io::Infeed infeed = regression::feed(context, 4);
    const auto isRefused = [](const std::function<void()>& call) {
      EXPECT_EQ(errorCodeOf(call), ErrorCode::kFailedPrecondition);
    };
    isRefused([&] { session.run(infeed); });
    isRefused([&] { hvd::broadcastWeights(session); });
    hvd::DistributedOptimizer optimizer(train::sgd(0.1), session, options);
    optimizer.insertHostAllReduce();
    isRefused([&] { optimizer.insertHostAllReduce(); });
    isRefused([&] { session.run(infeed); });
    EXPECT_EQ(errorCodeOf([&] { hvd::broadcastWeights(session, 2); }), ErrorCode::kInvalidArgument);
    hvd::broadcastWeights(session);
    session.run(infeed);
  });
}

TEST(PopartHorovod, RefusesRanksThatTreatDenormalsDifferently) {
  if (!FlushDenormals::isSupported()) return;
  ThreadGroup group(2);
  group.run([&](Context& context) {
    std::optional<FlushDenormals> flush;
    if (context.instanceIndex() == 1) flush.emplace();
    const SessionOptions options{.host_all_reduce = true};
    Session session(context, model(4), {1, {}}, options);
    hvd::DistributedOptimizer optimizer(train::sgd(0.1), session, options);
    EXPECT_EQ(errorCodeOf([&] { optimizer.insertHostAllReduce(); }), ErrorCode::kFailedPrecondition);
  });
}

TEST(PopartHorovod, ReducesOnTheHostOnlyWhereTheSessionSaysSo) {
  Context& context = Context::fromEnvironment();
  Session session(context, model(4), {1, {}});
  EXPECT_EQ(errorCodeOf([&] { hvd::DistributedOptimizer(train::sgd(0.1), session, {}); }),
            ErrorCode::kFailedPrecondition);
  EXPECT_EQ(
      errorCodeOf([&] { hvd::DistributedOptimizer(train::sgd(0.1), session, {.host_all_reduce = true}); }),
      ErrorCode::kInvalidArgument);
}

TEST(PopartHorovod, InferenceHasNothingToReduce) {
  ThreadGroup group(2);
  group.run([&](Context& context) {
    const SessionOptions options{.host_all_reduce = true};
    Model forwards = model(4);
    for (Stage& stage : forwards.stages) stage.backward = {};
    EXPECT_EQ(errorCodeOf([&] {
                Session(context, forwards, {1, {}}, options);
              }),
              ErrorCode::kInvalidArgument);
    Session session(context, forwards, {2, {{"loss", AnchorReturnType("All")}}}, options, Mode::kInference,
                    static_cast<std::uint64_t>(context.instanceIndex()));
    hvd::DistributedOptimizer(train::sgd(0.1), session, options).insertHostAllReduce();
    hvd::broadcastWeights(session, 1);
    const std::vector<float> weights = weightsOf(session);
    io::Infeed infeed = regression::feed(context, 4);
    EXPECT_EQ(session.run(infeed).spec().at(0).shape, (Shape{2}));
    EXPECT_EQ(weightsOf(session), weights);
    float sums[] = {weights[0], -weights[0]};
    context.world().allReduce(std::span(sums), Operator::kMax);
    EXPECT_EQ(sums[0], -sums[1]) << "the ranks' weights differ";
  });
}

TEST(PopartHorovod, WeightsThatOneRankSetsAreBroadcastAgain) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    const SessionOptions options{.host_all_reduce = true};
    Session session(context, model(4), {1, {}}, options);
    hvd::DistributedOptimizer(train::sgd(0.1), session, options).insertHostAllReduce();
    hvd::broadcastWeights(session);
    Tensors weights(session.weights().spec());
    session.setWeights(std::as_const(weights).refs());
    io::Infeed infeed = regression::feed(context, 4);
    EXPECT_EQ(errorCodeOf([&] { session.run(infeed); }), ErrorCode::kFailedPrecondition);
    hvd::broadcastWeights(session);
    session.run(infeed);
  });
}

TEST(PopartHorovod, InferenceEndsWithItsInfeed) {
  Context& context = Context::fromEnvironment();
  Session session(context, model(4), {regression::kSamples / 4 + 1, {}}, {}, Mode::kInference);
  io::Infeed infeed = regression::feed(context, 4);
  EXPECT_EQ(errorCodeOf([&] { session.run(infeed); }), ErrorCode::kOutOfRange);
}

TEST(PopartHorovod, ScalesTheRateByTheRanksAndCountsWhatTheyLeaveOut) {
  ThreadGroup group(4);
  group.run([](Context& context) {
    EXPECT_DOUBLE_EQ(hvd::scaledRate(0.1, context), 0.4);
    const io::Dataset mine = regression::samples().take(90).forReplicas(io::InputContext::of(context));
    EXPECT_EQ(mine.size(), 22U) << "the same on all ranks";
    EXPECT_EQ(mine.dropped(), 2U);
  });
}

}  // namespace
}  // namespace popdist::popart
