// SPDX-License-Identifier: Apache-2.0
#include "pod/predict/runs_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/pod/predict/systems.h"

namespace pop::pod::predict {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHeader = "system,replicas,stages,micro_batch,gradient_accumulation,step_ms\n";

Training pipelinedTraining() {
  Training result;
  result.chip = "Mk2";
  result.stages = 8;
  result.ipus_per_replica = 8;
  result.samples_per_element = 2;
  return result;
}

Result<std::vector<MeasuredRun>> parse(const std::string& text) {
  return parseRuns(text, "t.csv", pipelinedTraining(), testing::systemByName);
}
std::string tableError(const std::string& text) {
  return parse(text).status().message();
}

TEST(RunsTable, ReadsRowsInTheOrderOfTheHeader) {
  const auto runs = parse(
      "\xef\xbb\xbf# source\n\nstep_ms, system,stages,micro_batch,gradient_accumulation,replicas,note\r\n"
      "639.9, pod64, 8, 2, 96, 8, \r\n689,pod128,8,2,96,16,closed\n");
  ASSERT_TRUE(runs.ok()) << runs.status().message();
  ASSERT_EQ(runs.value().size(), 2U);
  const MeasuredRun& run = runs.value()[0];
  EXPECT_EQ(run.line, 4U);
  EXPECT_EQ(run.placement.system.name, "pod64");
  EXPECT_EQ(run.placement.replicas, 8);
  EXPECT_EQ(run.placement.micro_batch, 2);
  EXPECT_EQ(run.placement.gradient_accumulation, 96);
  EXPECT_DOUBLE_EQ(run.step_s, 0.6399);
}

TEST(RunsTable, StepsFollowFromSamplesPerSecond) {
  const auto runs = parse(
      "system,replicas,ipus_per_replica,micro_batch,gradient_accumulation,samples_per_s\n"
      "pod64,8,8,2,96,4800\n");
  ASSERT_TRUE(runs.ok()) << runs.status().message();
  EXPECT_DOUBLE_EQ(runs.value()[0].step_s, 8 * 2 * 96 * 2 / 4800.0);
}

TEST(RunsTable, ErrorsOfTheHeaderNameTheColumn) {
  EXPECT_THAT(tableError("sytem,replicas\n"),
              HasSubstr("'t.csv', line 1: unknown column 'sytem': did you mean system?"));
  EXPECT_THAT(tableError("system,replicas,system\n"), HasSubstr("column system is there twice"));
  EXPECT_THAT(tableError("system,replicas,stages,micro_batch,step_ms\n"),
              HasSubstr("no column gradient_accumulation"));
  EXPECT_THAT(tableError("system,replicas,micro_batch,gradient_accumulation,step_ms\n"),
              HasSubstr("neither ipus_per_replica nor stages"));
  EXPECT_THAT(tableError("system,replicas,stages,micro_batch,gradient_accumulation\n"),
              HasSubstr("one column of step_ms and samples_per_s"));
  EXPECT_THAT(tableError("system,replicas,stages,micro_batch,gradient_accumulation,step\n"),
              HasSubstr("unknown column 'step'"));
  EXPECT_THAT(tableError("# nothing\n"), HasSubstr("has no rows"));
  EXPECT_THAT(tableError(kHeader), HasSubstr("has no rows"));
}

TEST(RunsTable, ErrorsOfRowsNameLineColumnAndCause) {
  const std::string header = kHeader;
  EXPECT_THAT(tableError(header + "pod63,8,8,2,96,640\n"), HasSubstr("line 2: no Pod is called 'pod63'"));
  EXPECT_THAT(tableError(header + "pod64,8,8,2,96,640 ms\n"),
              HasSubstr("line 2: step_ms: '640 ms' is no number"));
  EXPECT_THAT(tableError(header + "pod64,8,8,2,96,-640\n"), HasSubstr("'-640' is no number above 0"));
  EXPECT_THAT(tableError(header + "pod64,8,8,2,96,inf\n"), HasSubstr("'inf' is no number above 0"));
  EXPECT_THAT(tableError(header + "pod64,8,8,2,96,\n"), HasSubstr("step_ms: '' is no number"));
  EXPECT_THAT(tableError(header + "pod64,8,8,2,96\n"), HasSubstr("5 cells, and the header has 6"));
  EXPECT_THAT(tableError(header + "pod64,0,8,2,96,640\n"), HasSubstr("replicas: '0' is no whole number"));
  EXPECT_THAT(tableError(header + "pod64,9,8,2,96,640\n"), HasSubstr("need 72 IPUs, and pod64 has 64"));
  EXPECT_THAT(tableError(header + "pod64,8,4,2,96,640\n"),
              HasSubstr("stages is 4, and the model has 8: another program"));
  EXPECT_THAT(tableError(header + "bow-pod64,8,8,2,96,640\n"), HasSubstr("another chip"));
}

}  // namespace
}  // namespace pop::pod::predict
