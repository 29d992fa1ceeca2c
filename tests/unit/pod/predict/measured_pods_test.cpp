// SPDX-License-Identifier: Apache-2.0
// Pods that were measured (examples/pods): fitted on some of their runs, the model predicts the others.
#include <gtest/gtest.h>

#include <cmath>

#include "pod/predict/fit.h"
#include "pod/predict/model_file.h"
#include "tests/testing/file_text.h"
#include "tests/unit/pod/predict/systems.h"

namespace pop::pod::predict {
namespace {

struct Measured {
  Training training;
  std::vector<MeasuredRun> runs;
};

Measured measured(const std::string& name) {
  const std::string path = POP_SOURCE_DIR "/examples/pods/" + name;
  const Training training = parseModel(pop::testing::fileText(path + ".model"), name).value();
  return {training,
          parseRuns(pop::testing::fileText(path + ".csv"), name, training, testing::systemByName).value()};
}

// Relative error of the prediction for `held_out`, by the times that the other runs gave.
double errorOn(const std::string& name, const std::string& held_out,
               const std::vector<std::string>& learned_from) {
  const Measured all = measured(name);
  std::vector<MeasuredRun> known;
  std::vector<MeasuredRun> asked;
  for (const MeasuredRun& run : all.runs) {
    const std::string& system = run.placement.system.name;
    if (system == held_out) asked.push_back(run);
    if (std::find(learned_from.begin(), learned_from.end(), system) != learned_from.end())
      known.push_back(run);
  }
  const Result<Fit> fitted = fit(all.training, known, testing::ring);
  EXPECT_TRUE(fitted.ok()) << fitted.status().message();
  EXPECT_EQ(asked.size(), 1U);
  if (!fitted.ok() || asked.empty()) return 1;
  const double error = compare(fitted.value().training, asked, testing::ring).value().front().error();
  ::testing::Test::RecordProperty("error_percent", std::to_string(100 * error));
  return std::abs(error);
}

TEST(MeasuredPods, ResNetsOnOnePodAndTwoPredictFour) {
  EXPECT_LE(errorOn("resnet50_v1.1", "pod256", {"pod16", "pod64", "pod128"}), 0.05);
}

TEST(MeasuredPods, ResNetsGatewayIsTheSameLearnedOnFourPods) {
  EXPECT_LE(errorOn("resnet50_v1.1", "pod128", {"pod16", "pod64", "pod256"}), 0.05);
}

TEST(MeasuredPods, BertOnOnePodAndTwoPredictsASmallerOneOfAnotherMemoryFormat) {
  EXPECT_LE(errorOn("bert_large_v2.0", "bow-pod16", {"bow-pod64", "bow-pod128"}), 0.05);
}

TEST(MeasuredPods, TimesOfEachTableAreLearned) {
  for (const char* name : {"resnet50_v1.0", "resnet50_v1.1", "resnet50_v2.0", "bert_large_v2.0"}) {
    const Measured all = measured(name);
    const Result<Fit> fitted = fit(all.training, all.runs, testing::ring);
    ASSERT_TRUE(fitted.ok()) << name << ": " << fitted.status().message();
    const auto compared = compare(fitted.value().training, all.runs, testing::ring);
    for (const Comparison& each : compared.value())
      EXPECT_LE(std::abs(each.error()), 0.02) << name << ", line " << each.measured.line;
  }
}

TEST(MeasuredPods, RunsOfTheSameSlotsDoNotTellWhatAMicroBatchTakes) {
  const Measured all = measured("bert_large_v1.1");
  EXPECT_EQ(fit(all.training, all.runs, testing::ring).status().code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace pop::pod::predict
