// SPDX-License-Identifier: Apache-2.0
#include "scaling/advice.h"

#include <gtest/gtest.h>

#include "tests/unit/scaling/rows.h"

namespace pop::scaling {
namespace {

using Topics = std::vector<Topic>;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The same batch with twice the replicas, and all that could be better is.
const std::vector<Row> kFine{rowOf({.replicas = 1}), rowOf({.replicas = 2, .accumulation = 2})};

TEST(ScalingAdvice, IsToDoNothingWhereAllIsFine) {
  EXPECT_EQ(topicsOf(kFine), Topics{Topic::kFine});
}

TEST(ScalingAdvice, OneNumberOfReplicasNeedsAnother) {
  EXPECT_EQ(topicsOf({rowOf({})}), Topics{Topic::kMoreRuns});
}

TEST(ScalingAdvice, BeginsWithMemory) {
  std::vector<Row> rows = kFine;
  rows.push_back({.replicas = 8, .instances = 8});
  EXPECT_EQ(topicsOf(rows), Topics{Topic::kMemory});
  EXPECT_TRUE(has(adviceOn(Topic::kMemory, rows), "8 replicas"));
  EXPECT_EQ(topicsOf({rows.back()}), Topics{Topic::kMemory});
}

TEST(ScalingAdvice, FollowsTheQuickGuide) {
  const Topics topics = topicsOf({rowOf({.replicas = 1}),
                                  rowOf({.replicas = 4,
                                         .instances = 1,
                                         .input = 0.1,
                                         .micro_batch_s = 0.04,
                                         .reduction = 0.1,
                                         .constant = 100,
                                         .outside = {.checkpoints = 90}}),
                                  {.replicas = 8}});
  EXPECT_EQ(topics, (Topics{Topic::kMemory, Topic::kInput, Topic::kInstances, Topic::kAccumulation,
                            Topic::kCheckpoints, Topic::kBatch}));
}

TEST(ScalingAdvice, NamesTheShareOfWaitingForInput) {
  const std::vector<Row> rows{rowOf({.input = 0.01}),
                              rowOf({.replicas = 2, .accumulation = 2, .input = 0.021})};
  EXPECT_TRUE(has(adviceOn(Topic::kInput, rows), "50 %")) << adviceOn(Topic::kInput, rows);
  EXPECT_TRUE(has(adviceOn(Topic::kInput, rows), "20 % with 1"));
}

TEST(ScalingAdvice, ReplicasOfOneInstanceWaitForEachOther) {
  const auto rows = [](int instances) {
    return std::vector<Row>{
        rowOf({}), rowOf({.replicas = 4, .instances = instances, .accumulation = 1, .micro_batch_s = 0.04})};
  };
  EXPECT_TRUE(has(adviceOn(Topic::kInstances, rows(1)), "4.00 times"));
  EXPECT_EQ(adviceOn(Topic::kInstances, rows(4)), "") << "something else makes the step slower";
}

TEST(ScalingAdvice, SaysWhatMoreAccumulationWouldGive) {
  const std::vector<Row> rows{rowOf({.replicas = 2, .reduction = 0.039})};
  const std::string text = adviceOn(Topic::kAccumulation, rows);
  EXPECT_TRUE(has(text, "accumulation.count 8")) << text;
  EXPECT_TRUE(has(text, "50 %")) << text;
  EXPECT_TRUE(has(text, "1.33 times")) << text;
  EXPECT_TRUE(has(text, "512 samples")) << text;
}

TEST(ScalingAdvice, NamesWhatIsConstantOutsideOfTraining) {
  const auto topics = [](const Outside& outside, double constant) {
    std::vector<Row> rows = kFine;
    rows[1] = rowOf({.replicas = 2, .accumulation = 2, .constant = constant, .outside = outside});
    return topicsOf(rows);
  };
  EXPECT_EQ(topics({.start = 2}, 2), Topics{Topic::kStart});
  EXPECT_EQ(topics({.checkpoints = 2}, 2), Topics{Topic::kCheckpoints});
  EXPECT_EQ(topics({.evaluations = 2}, 2), Topics{Topic::kEvaluations});
  EXPECT_EQ(topics({}, 2), Topics{Topic::kOutside});
  EXPECT_EQ(topics({.start = 0.1, .checkpoints = 0.05}, 0.2), Topics{Topic::kFine});
}

TEST(ScalingAdvice, SaysWhatKeepingTheBatchCosts) {
  const std::vector<Row> rows{rowOf({.replicas = 1}), rowOf({.replicas = 2})};
  const std::string text = adviceOn(Topic::kBatch, rows);
  EXPECT_TRUE(has(text, "from 128 to 256")) << text;
  EXPECT_TRUE(has(text, "accumulation.count 2")) << text;
}

TEST(ScalingAdvice, FindsModelsThatAreSmallForTheirData) {
  const std::vector<Row> rows{rowOf({.input = 0.09}),
                              rowOf({.replicas = 2, .accumulation = 2, .input = 0.09})};
  EXPECT_TRUE(has(adviceOn(Topic::kModel, rows), "10.0 ms"));
}

}  // namespace
}  // namespace pop::scaling
