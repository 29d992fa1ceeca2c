// SPDX-License-Identifier: Apache-2.0
#include "scaling/report.h"

#include <gtest/gtest.h>

#include "common/base/json_reader.h"
#include "tests/unit/scaling/rows.h"

namespace pop::scaling {
namespace {

const std::vector<Row> kRows{rowOf({.replicas = 1}), rowOf({.replicas = 2, .reduction = 0.01}),
                             rowOf({.replicas = 4, .input = 0.1, .reduction = 0.03, .constant = 1})};

TEST(ScalingReport, NamesBothLaws) {
  const std::string text = reportMarkdown(analyse(kRows));
  EXPECT_NE(text.find("Amdahl's law"), std::string::npos);
  EXPECT_NE(text.find("Gustafson's law"), std::string::npos);
  EXPECT_NE(text.find("no latency"), std::string::npos);
}

TEST(ScalingReport, PutsThePodsEstimateBesideTheMeasuredExchange) {
  std::vector<Row> rows = kRows;
  EXPECT_EQ(reportMarkdown(analyse(rows)).find("estimate"), std::string::npos) << "no row has a Pod";
  for (Row& row : rows) row.pod = {.collectives = 0.006, .all_reduce_estimate = 0.002};
  const std::string text = reportMarkdown(analyse(rows));
  const std::size_t table = text.find("## Exchange of an update on the Pod");
  ASSERT_NE(table, std::string::npos);
  EXPECT_NE(text.find("20.0 us |   60.0 us", table), std::string::npos) << text.substr(table);
  const Result<JsonValue> json = parseJson(reportJson(analyse(rows)));
  ASSERT_TRUE(json.ok()) << json.status().message();
  const JsonValue& last = json.value().find("replicas")->array()->back();
  EXPECT_NEAR(*last.find("pod_all_reduce_estimate_seconds")->number(), 2e-5, 1e-12);
  EXPECT_NEAR(*last.find("pod_exchange_seconds")->number(), 6e-5, 1e-12);
}

TEST(ScalingReport, CellsOfATableStandBelowEachOther) {
  const std::string text = reportMarkdown(analyse(kRows));
  std::size_t width = 0;  // the current table's
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string line = text.substr(begin, end - begin);
    if (line.empty() || line[0] != '|') {
      width = 0;
      continue;
    }
    EXPECT_EQ(line.size(), width == 0 ? line.size() : width) << line;
    width = line.size();
  }
}

TEST(ScalingReport, JsonHasTheNumbersOfTheAnalysis) {
  const Analysis analysis = analyse(kRows);
  const Result<JsonValue> json = parseJson(reportJson(analysis));
  ASSERT_TRUE(json.ok()) << json.status().message();
  const JsonValue::Array& replicas = *json.value().find("replicas")->array();
  ASSERT_EQ(replicas.size(), 3U);
  EXPECT_EQ(replicas[2].find("theoretical_samples_per_second")->number(), analysis.points[2].theoretical);
  EXPECT_EQ(json.value().find("laws")->find("constant_share")->number(), analysis.laws->constant_share);
  EXPECT_EQ(json.value().find("components")->array()->size(), 6U);
}

TEST(ScalingReport, JsonHasNoNumberThatIsNone) {
  // All scales: no limit.
  const Result<JsonValue> json = parseJson(reportJson(analyse({rowOf({}), rowOf({.replicas = 2})})));
  ASSERT_TRUE(json.ok()) << json.status().message();
}

TEST(ScalingReport, IsMadeOfAnyNumberOfRuns) {
  for (const std::vector<Row>& rows : {std::vector<Row>{kRows[2]}, std::vector<Row>{{.replicas = 2}},
                                       std::vector<Row>{kRows[0], kRows[0]}}) {
    EXPECT_NE(reportMarkdown(analyse(rows)).find("## What to do"), std::string::npos);
    EXPECT_TRUE(parseJson(reportJson(analyse(rows))).ok());
    EXPECT_EQ(reportSvg(analyse(rows)).substr(0, 4), "<svg");
  }
}

TEST(ScalingReport, SvgHasTheThreeCurves) {
  const std::string svg = reportSvg(analyse(kRows));
  for (const char* curve : {"measured", "theoretical", "linear"})
    EXPECT_NE(svg.find("<polyline class=\"" + std::string(curve)), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace pop::scaling
