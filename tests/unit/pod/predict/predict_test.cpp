// SPDX-License-Identifier: Apache-2.0
#include "pod/predict/predict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/pod/predict/systems.h"

namespace pop::pod::predict {
namespace {

using ::testing::HasSubstr;

Training training() {
  Training result;
  result.chip = "Mk2";
  result.gradient_bytes = 1000;
  result.micro_batch = 20;
  result.micro_batch_s = 10e-3;
  result.fixed_s = 4e-3;
  result.gateway_s = 2e-3;
  return result;
}

double aMillisecondPerReplica(const SystemShape&, std::uint64_t, int replicas, int) {
  return 1e-3 * replicas;
}

TEST(Slots, APipelineFillsAndDrains) {
  EXPECT_EQ(slotsOf(10, 1), 10);
  EXPECT_EQ(slotsOf(96, 8), 110);
  EXPECT_EQ(slotsOf(192, 4), 198);
}

TEST(Predict, TermsComeToTheStepAndThroughputFollows) {
  const Result<Prediction> result = predict(
      training(), {.system = testing::mk2(1), .replicas = 16, .micro_batch = 20, .gradient_accumulation = 5},
      aMillisecondPerReplica);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_DOUBLE_EQ(result.value().seconds.micro_batches, 50e-3);
  EXPECT_DOUBLE_EQ(result.value().seconds.all_reduce, 16e-3);
  EXPECT_DOUBLE_EQ(result.value().seconds.gateway, 0);
  EXPECT_DOUBLE_EQ(result.value().seconds.all(), 70e-3);
  EXPECT_DOUBLE_EQ(result.value().samples_per_s, 16 * 20 * 5 / 70e-3);
  EXPECT_DOUBLE_EQ(result.value().serial_s, 20e-3);
}

TEST(Predict, GatewayLinksCostTheShareOfARingForEveryCollective) {
  Training several = training();
  several.collectives = 10;
  const auto gatewayOn = [&](int pods) {
    return predict(several, {.system = testing::mk2(pods), .replicas = 64 * pods}, testing::noCommunication)
        .value()
        .seconds.gateway;
  };
  EXPECT_DOUBLE_EQ(gatewayOn(1), 0);
  EXPECT_DOUBLE_EQ(gatewayOn(2), 10 * 2e-3);
  EXPECT_DOUBLE_EQ(gatewayOn(4), 10 * 2e-3 * 1.5);
}

TEST(Predict, AJobOnOnePodOfSeveralPaysNoGateway) {
  const Placement placement{.system = testing::mk2(4), .replicas = 64};
  EXPECT_DOUBLE_EQ(predict(training(), placement, testing::noCommunication).value().seconds.gateway, 0);
}

TEST(Predict, BatchNormIsPaidForEachMicroBatchByGroups) {
  Training normed = training();
  normed.batch_norm = {.layers = 5, .span = 2, .statistics_bytes = 100};
  const Placement placement{.system = testing::mk2(1), .replicas = 4, .gradient_accumulation = 3};
  const Prediction result = predict(normed, placement, aMillisecondPerReplica).value();
  EXPECT_DOUBLE_EQ(result.seconds.batch_norm, 3 * 10 * 2e-3);
  EXPECT_DOUBLE_EQ(result.serial_s, 4e-3 + 4e-3) << "it is part of a micro-batch";
  EXPECT_THAT(
      predict(normed, {.system = testing::mk2(1), .replicas = 3}, aMillisecondPerReplica).status().message(),
      HasSubstr("batch_norm_span = 2"));
}

TEST(Predict, AnotherMicroBatchTakesItsShareAndPacksHoldSamples) {
  Training packed = training();
  packed.samples_per_element = 2;
  packed.stages = 8;
  packed.ipus_per_replica = 8;
  const Placement placement{
      .system = testing::mk2(1), .replicas = 8, .micro_batch = 22, .gradient_accumulation = 96};
  const Prediction result = predict(packed, placement, testing::noCommunication).value();
  EXPECT_DOUBLE_EQ(result.seconds.micro_batches, 110 * 11e-3);
  EXPECT_DOUBLE_EQ(result.samples_per_s, 8 * 22 * 96 * 2 / result.seconds.all());
  EXPECT_NEAR(result.serial_s, 4e-3 + 14 * 11e-3, 1e-12) << "filling and draining do not scale";
}

TEST(Predict, OneReplicaExchangesNothing) {
  const Placement placement{.system = testing::mk2(1), .replicas = 1};
  EXPECT_DOUBLE_EQ(predict(training(), placement, aMillisecondPerReplica).value().seconds.all_reduce, 0);
}

TEST(Predict, RefusesWhatItCannotKnow) {
  const auto messageOf = [](const Training& asked, const Placement& placement) {
    return predict(asked, placement, testing::noCommunication).status().message();
  };
  Training unmeasured = training();
  unmeasured.fixed_s.reset();
  EXPECT_THAT(messageOf(unmeasured, {.system = testing::mk2(1)}), HasSubstr("no fixed_time"));
  SystemShape bow = testing::mk2(1);
  bow.chip = "Bow";
  EXPECT_THAT(messageOf(training(), {.system = bow}), HasSubstr("those of Mk2 IPUs"));
  EXPECT_THAT(messageOf(training(), {.system = testing::mk2(1), .replicas = 65}), HasSubstr("pod64 has 64"));
  EXPECT_THAT(messageOf(training(), {.system = testing::mk2(2), .replicas = 65}),
              HasSubstr("evenly over the 2 IPU-Link domains"));
  Training deep = training();
  deep.stages = 8;
  EXPECT_THAT(messageOf(deep, {.system = testing::mk2(1), .gradient_accumulation = 7}),
              HasSubstr("a pipeline of 8 stages needs gradient_accumulation"));
  Training large = training();
  large.ipus_per_replica = 128;
  EXPECT_THAT(messageOf(large, {.system = testing::mk2(2)}),
              HasSubstr("larger than pod128's IPU-Link domain"));
}

}  // namespace
}  // namespace pop::pod::predict
