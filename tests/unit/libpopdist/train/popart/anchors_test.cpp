// SPDX-License-Identifier: Apache-2.0
// Results of runs: the shapes of PopART, and the values in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "popdist/popart_horovod.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/thread_group.h"

namespace popdist::popart {
namespace {

using popdist::testing::errorCodeOf;
using popdist::testing::ThreadGroup;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

/// Its value is the number of the element that it got, with a dimension of 1 of its own.
Model numbers() {
  Model model;
  model.weights.add("w", {1});
  model.values = {{"number", Type::kFloat, {1, 2}}};
  model.stages = {{.name = "number",
                   .forward =
                       [](const Batch& batch) {
                         const float number = batch.input.get<float>("i")[0];
                         batch.values.get<float>("number")[0] = number;
                         batch.values.get<float>("number")[1] = -number;
                       },
                   .backward = [](const Batch&) {}}};
  return model;
}

io::Infeed feedNumbers(std::size_t count, int replicas) {
  Tensor all({"i", Type::kFloat, {count}});
  std::iota(all.as<float>().begin(), all.as<float>().end(), 0.0F);
  return io::Infeed(io::Dataset::fromSlices(Tensors(std::move(all))), {.replicas = replicas});
}

struct Counts {
  int batches, accumulation, replicas;
};

class AnchorsOf : public ::testing::TestWithParam<Counts> {
 protected:
  /// The anchor of one run.
  static Tensor of(const AnchorReturnType& type) {
    const auto& [batches, accumulation, replicas] = GetParam();
    std::vector<Tensor> result;
    ThreadGroup group({.replicas_of_instance = {replicas}});
    group.run([&, batches = batches, accumulation = accumulation, replicas = replicas](Context& context) {
      SessionOptions options{.host_all_reduce = true};
      options.enable_gradient_accumulation = accumulation > 1;
      options.accumulation_factor = accumulation;
      options.enable_replicated_graphs = replicas > 1;
      options.replicated_graph_count = replicas;
      Session session(context, numbers(), {batches, {{"number", type}}}, options);
      hvd::DistributedOptimizer optimizer(train::sgd(0.1), session, options);
      optimizer.insertHostAllReduce();
      io::Infeed infeed = feedNumbers(static_cast<std::size_t>(elements()), replicas);
      Tensors anchors = session.run(infeed);
      result.push_back(std::move(anchors.at(0)));
    });
    return std::move(result.at(0));
  }
  static int elements() { return GetParam().batches * GetParam().accumulation * GetParam().replicas; }

  /// Dimensions of 1 left out, then the tensor's own.
  static Shape shape(std::initializer_list<int> in_front) {
    Shape shape;
    for (const int each : in_front)
      if (each != 1) shape.push_back(static_cast<std::size_t>(each));
    shape.insert(shape.end(), {1, 2});
    return shape;
  }
  /// The positive ones of all values.
  static std::vector<float> firsts(const Tensor& tensor) {
    std::vector<float> values;
    for (std::size_t i = 0; i < tensor.as<float>().size(); i += 2) values.push_back(tensor.as<float>()[i]);
    return values;
  }
  static std::vector<float> range(int first, int last) {
    std::vector<float> values(static_cast<std::size_t>(last - first));
    std::iota(values.begin(), values.end(), static_cast<float>(first));
    return values;
  }
};

TEST_P(AnchorsOf, AllAreThoseOfEachBatchMicroBatchAndReplica) {
  const auto& [batches, accumulation, replicas] = GetParam();
  const Tensor all = of(AnchorReturnType("All"));
  EXPECT_EQ(all.spec().shape, shape({batches, accumulation, replicas}));
  EXPECT_THAT(firsts(all), ElementsAreArray(range(0, elements())));
}

TEST_P(AnchorsOf, EveryNAreThoseOfTheLastOfNBatches) {
  const auto& [batches, accumulation, replicas] = GetParam();
  const Tensor last = of(AnchorReturnType("EveryN", batches));
  EXPECT_EQ(last.spec().shape, shape({accumulation, replicas}));
  EXPECT_THAT(firsts(last), ElementsAreArray(range(elements() - accumulation * replicas, elements())));
  EXPECT_EQ(of(AnchorReturnType("EveryN", 1)).spec().shape, shape({batches, accumulation, replicas}));
}

TEST_P(AnchorsOf, FinalAreThoseOfTheLastMicroBatch) {
  const Tensor last = of(AnchorReturnType("Final"));
  EXPECT_EQ(last.spec().shape, shape({GetParam().replicas}));
  EXPECT_THAT(firsts(last), ElementsAreArray(range(elements() - GetParam().replicas, elements())));
}

TEST_P(AnchorsOf, SumsAreOverBatchesAndMicroBatches) {
  const int replicas = GetParam().replicas;
  const Tensor sum = of(AnchorReturnType("Sum"));
  EXPECT_EQ(sum.spec().shape, shape({replicas}));
  std::vector<float> expected(static_cast<std::size_t>(replicas));
  for (int i = 0; i < elements(); ++i)
    expected[static_cast<std::size_t>(i % replicas)] += static_cast<float>(i);
  EXPECT_THAT(firsts(sum), ElementsAreArray(expected));
}

INSTANTIATE_TEST_SUITE_P(OneAndTwo, AnchorsOf,
                         ::testing::Values(Counts{1, 1, 1}, Counts{1, 1, 2}, Counts{1, 2, 1}, Counts{1, 2, 2},
                                           Counts{2, 1, 1}, Counts{2, 1, 2}, Counts{2, 2, 1},
                                           Counts{2, 2, 2}),
                         [](const auto& shape) {
                           const Counts& counts = shape.param;
                           return "Steps" + std::to_string(counts.batches) + "Accumulation" +
                                  std::to_string(counts.accumulation) + "Replicas" +
                                  std::to_string(counts.replicas);
                         });

TEST(Anchors, EveryNGivesTheLastOfEachNBatches) {
  const SessionOptions options{.host_all_reduce = true};
  Session session(Context::fromEnvironment(), numbers(), {6, {{"number", AnchorReturnType("everyn", 2)}}},
                  options);
  hvd::DistributedOptimizer(train::sgd(0.1), session, options).insertHostAllReduce();
  io::Infeed infeed = feedNumbers(6, 1);
  EXPECT_THAT(session.run(infeed).get<float>("number"), ElementsAre(1, -1, 3, -3, 5, -5));
}

TEST(Anchors, AreRefusedWhereTheyCannotBe) {
  EXPECT_EQ(errorCodeOf([] { AnchorReturnType("Some"); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { AnchorReturnType("EveryN"); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { AnchorReturnType("All", 2); }), ErrorCode::kInvalidArgument);
  const auto code = [](DataFlow data_flow) {
    return errorCodeOf([&] { Session(Context::fromEnvironment(), numbers(), std::move(data_flow)); });
  };
  EXPECT_EQ(code({4, {{"number", AnchorReturnType("EveryN", 3)}}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({4, {{"loss", AnchorReturnType("All")}}}), ErrorCode::kNotFound);
  EXPECT_EQ(code({0, {}}), ErrorCode::kInvalidArgument);
  Model small = numbers();
  small.values = {{"number", Type::kInt8, {2}}};
  EXPECT_EQ(errorCodeOf([&] {
              Session(Context::fromEnvironment(), small, {4, {{"number", AnchorReturnType("Sum")}}});
            }),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace popdist::popart
