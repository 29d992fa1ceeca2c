// SPDX-License-Identifier: Apache-2.0
#include "pod/predict/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/pod/predict/systems.h"

namespace pop::pod::predict {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Training packedTraining() {
  Training result;
  result.chip = "Mk2";
  result.ipus_per_replica = 8;
  result.samples_per_element = 2;
  result.micro_batch = 3;
  result.gradient_accumulation = 10;
  result.gradient_bytes = 1000;
  result.micro_batch_s = 10e-3;
  result.fixed_s = 4e-3;
  return result;
}

TEST(Sweep, FillsEachSystemWithReplicasOfTheModel) {
  const Result<Sweep> result =
      sweep(packedTraining(), {testing::mk2(1), testing::mk2(4)}, {}, testing::noCommunication);
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(result.value().predictions.size(), 2U);
  const Prediction& four = result.value().predictions[1];
  EXPECT_EQ(four.placement.replicas, 32);
  EXPECT_EQ(four.placement.micro_batch, 3);
  EXPECT_EQ(four.placement.gradient_accumulation, 10);
  EXPECT_DOUBLE_EQ(idealSamplesPerS(result.value().predictions[0], four), four.samples_per_s);
}

TEST(Sweep, AGlobalBatchDecidesAccumulation) {
  const Wanted wanted{.global_batch = 960};
  EXPECT_EQ(placementOn(testing::mk2(1), packedTraining(), wanted).value().gradient_accumulation, 20);
  EXPECT_EQ(placementOn(testing::mk2(2), packedTraining(), wanted).value().gradient_accumulation, 10);
  EXPECT_THAT(placementOn(testing::mk2(2), packedTraining(), {.global_batch = 961}).status().message(),
              HasSubstr("a global batch of 961 is no multiple of 96"));
}

TEST(Sweep, LeavesOutWhatCannotRunAndSaysWhy) {
  const Result<Sweep> result =
      sweep(packedTraining(), {testing::mk2(1), testing::mk2(2)}, {.replicas = 16}, testing::noCommunication);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value().predictions.size(), 1U);
  EXPECT_THAT(result.value().left_out, ElementsAre(HasSubstr("pod64: 16 replicas of 8 IPUs need 128")));
}

TEST(Sweep, FailsWhereNoneCanRunOrTheModelIsNotMeasured) {
  EXPECT_EQ(
      sweep(packedTraining(), {testing::mk2(1)}, {.replicas = 9}, testing::noCommunication).status().code(),
      Code::kInvalidArgument);
  Training unmeasured = packedTraining();
  unmeasured.micro_batch_s.reset();
  EXPECT_EQ(sweep(unmeasured, {testing::mk2(1)}, {}, testing::noCommunication).status().code(),
            Code::kFailedPrecondition);
}

}  // namespace
}  // namespace pop::pod::predict
