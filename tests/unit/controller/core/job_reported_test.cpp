// SPDX-License-Identifier: Apache-2.0
// A job's values, as it passes on its instances' reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/controller/core/job_fixture.h"

namespace pop {
namespace {

using contract::Fold;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(JobReported, FoldsTheNewestValueOfEachInstance) {
  JobFixture job(JobFixture::specFor(2, 4));
  job.startAll();
  for (int instance = 0; instance < 4; ++instance) {
    job.reported(instance, "samples_per_second", Fold::kSum, 100);
    job.reported(instance, "loss", Fold::kMean, instance);
    job.reported(instance, "epoch", Fold::kMax, instance);
  }
  job.reported(3, "samples_per_second", Fold::kSum, 200);
  job.reported(2, "loss", Fold::kMax, 2);  // the first one has chosen
  job.loop().advance(milliseconds(999));
  EXPECT_THAT(job.values(), IsEmpty());
  job.loop().advance(milliseconds(1));
  ASSERT_EQ(job.values().size(), 1U);
  EXPECT_THAT(job.values()[0],
              ElementsAre(JobValue{"epoch", Fold::kMax, 3, 4}, JobValue{"loss", Fold::kMean, 1.5, 4},
                          JobValue{"samples_per_second", Fold::kSum, 500, 4}));
  job.loop().advance(milliseconds(5000));
  EXPECT_EQ(job.values().size(), 1U) << "nothing has changed";
}

TEST(JobReported, ASumBeyondAllNumbersIsTheLargest) {
  JobFixture job(JobFixture::specFor(1, 2));
  job.startAll();
  for (int instance = 0; instance < 2; ++instance) {
    job.reported(instance, "least", Fold::kSum, -1.7e308);
    job.reported(instance, "mean", Fold::kMean, 1.7e308);
    job.reported(instance, "most", Fold::kSum, 1.7e308);
  }
  job.loop().advance(milliseconds(1000));
  ASSERT_EQ(job.values().size(), 1U);
  constexpr double kLargest = std::numeric_limits<double>::max();
  EXPECT_THAT(job.values()[0], ElementsAre(JobValue{"least", Fold::kSum, -kLargest, 2},
                                           JobValue{"mean", Fold::kMean, 1.7e308, 2},
                                           JobValue{"most", Fold::kSum, kLargest, 2}));
}

TEST(JobReported, KeepsTheFirstNames) {
  JobFixture job(JobFixture::specFor(1, 2));
  job.startAll();
  for (int i = 0; i < 20; ++i) job.reported(i % 2, "name\n" + std::to_string(i), Fold::kSum, i);
  job.loop().advance(milliseconds(1000));
  ASSERT_EQ(job.values().size(), 1U);
  EXPECT_EQ(job.values()[0].size(), 16U);
  EXPECT_EQ(job.values()[0][0].name,
            "name\\x0a"
            "0");
}

TEST(JobReported, TellsTheLastValuesBeforeTheEnd) {
  JobFixture job(JobFixture::specFor(1, 1));
  job.startAll();
  job.reported(0, "loss", Fold::kMean, 0.25);
  job.endAndClose(0, kSuccess);
  EXPECT_TRUE(job.done());
  ASSERT_EQ(job.values().size(), 1U);
  EXPECT_THAT(job.values()[0], ElementsAre(JobValue{"loss", Fold::kMean, 0.25, 1}));
}

}  // namespace
}  // namespace pop
