// SPDX-License-Identifier: Apache-2.0
#include "pod/predict/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/pod/predict/systems.h"

namespace pop::pod::predict {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Training unmeasured() {
  Training result;
  result.chip = "Mk2";
  result.gradient_bytes = 50'000'000;
  return result;
}

// A run as a training with these times would make it.
MeasuredRun run(int pods, std::int64_t accumulation, double noise = 1) {
  Training truth = unmeasured();
  truth.micro_batch_s = 10e-3;
  truth.fixed_s = 4e-3;
  truth.gateway_s = 2e-3;
  const Placement placement{
      .system = testing::mk2(pods), .replicas = 64 * pods, .gradient_accumulation = accumulation};
  return {2, placement, predict(truth, placement, testing::ring).value().seconds.all() * noise};
}

Result<Fit> fitOf(const std::vector<MeasuredRun>& runs, const Training& known = unmeasured()) {
  return fit(known, runs, testing::ring);
}

TEST(Fit, FindsTheTimesThatMadeTheRuns) {
  const Result<Fit> result = fitOf({run(1, 10), run(1, 3), run(2, 2), run(4, 2)});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_NEAR(result.value().training.micro_batch_s.value(), 10e-3, 1e-9);
  EXPECT_NEAR(result.value().training.fixed_s.value(), 4e-3, 1e-9);
  EXPECT_NEAR(result.value().training.gateway_s.value(), 2e-3, 1e-9);
  EXPECT_THAT(result.value().remarks, IsEmpty());
  ASSERT_EQ(result.value().learned.size(), 3U);
  EXPECT_EQ(result.value().learned[0].rests_on, "4 runs with 3 numbers of slots");
  EXPECT_EQ(result.value().learned[2].rests_on, "2 runs on several IPU-Link domains");
}

TEST(Fit, ErrorsWeighByTheirShareOfAStep) {
  const Result<Fit> result = fitOf({run(1, 1000, 1.01), run(1, 1000, 0.99), run(1, 1), run(1, 2)});
  ASSERT_TRUE(result.ok());
  const auto compared = compare(result.value().training, {run(1, 1), run(1, 2)}, testing::ring);
  for (const Comparison& each : compared.value())
    EXPECT_LT(std::abs(each.error()), 1e-3) << "a long run's noise does not drown the short ones";
}

TEST(Fit, WithoutSeveralDomainsTheGatewayStaysUnknown) {
  const Result<Fit> result = fitOf({run(1, 10), run(1, 3), run(1, 2)});
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result.value().training.gateway_s.has_value());
  EXPECT_THAT(result.value().remarks, ElementsAre(HasSubstr("no run is on several IPU-Link domains")));
}

TEST(Fit, KeepsWhatTheModelSays) {
  Training known = unmeasured();
  known.gateway_s = 2e-3;
  const Result<Fit> result = fitOf({run(1, 10), run(2, 2)}, known);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_NEAR(result.value().training.fixed_s.value(), 4e-3, 1e-9);
  EXPECT_THAT(result.value().remarks, ElementsAre(HasSubstr("as many runs as times to learn")));
}

TEST(Fit, RefusesRunsThatCannotTellTimesApart) {
  EXPECT_THAT(fitOf({run(1, 10)}).status().message(),
              HasSubstr("1 run cannot tell micro_batch_time and fixed_time apart"));
  EXPECT_THAT(fitOf({run(1, 10), run(1, 10), run(1, 10)}).status().message(),
              HasSubstr("all of them have 10 slots. Add a run with another gradient_accumulation"));
  EXPECT_THAT(fitOf({run(1, 10), run(2, 2)}).status().message(),
              HasSubstr("2 runs cannot tell micro_batch_time, fixed_time and gateway_time apart"));
  EXPECT_THAT(fitOf({run(2, 10), run(2, 2), run(2, 3)}).status().message(),
              HasSubstr("all of them are on several IPU-Link domains. Add runs on one"));
  EXPECT_THAT(fitOf({run(1, 10), run(1, 10), run(2, 2)}).status().message(),
              HasSubstr("slots and IPU-Link domains change together"));
  EXPECT_EQ(fitOf({}).status().code(), Code::kFailedPrecondition);
}

TEST(Fit, RefusesTimesBelowZero) {
  Training heavy = unmeasured();
  heavy.gradient_bytes = 500'000'000;
  EXPECT_THAT(fitOf({run(1, 10), run(1, 3)}, heavy).status().message(), HasSubstr("fixed_time would be -"));
  MeasuredRun shorter = run(1, 10);
  shorter.step_s = run(1, 2).step_s / 2;
  EXPECT_THAT(fitOf({shorter, run(1, 2)}).status().message(), HasSubstr("micro_batch_time would be -"));
}

TEST(Fit, TimesALittleBelowZeroAreNothingAndSaid) {
  MeasuredRun two_pods = run(2, 2);
  two_pods.step_s -= 2.5e-3;
  const Result<Fit> result = fitOf({run(1, 10), run(1, 3), two_pods});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_DOUBLE_EQ(result.value().training.gateway_s.value(), 0);
  EXPECT_THAT(result.value().remarks, ::testing::Contains(HasSubstr("gateway_time would be -")));
}

}  // namespace
}  // namespace pop::pod::predict
