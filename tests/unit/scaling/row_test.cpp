// SPDX-License-Identifier: Apache-2.0
#include "scaling/row.h"

#include <gtest/gtest.h>

#include "tests/unit/scaling/rows.h"

namespace pop::scaling {
namespace {

std::string errorOf(const std::string& text) {
  const Result<std::vector<Row>> rows = parseRows(text, "a.log");
  return rows.ok() ? "" : rows.status().message();
}

std::string replaced(std::string line, const std::string& what, const std::string& with) {
  return line.replace(line.find(what), what.size(), with);
}

const std::string kLine =
    lineOf(rowOf({.replicas = 4, .instances = 2, .constant = 1.5, .outside = {.start = 1}}));

TEST(ScalingRow, ReadsBackWhatItHasWritten) {
  const Result<std::vector<Row>> rows = parseRows("\n" + kLine + kLine, "a.log");
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  ASSERT_EQ(rows.value().size(), 2U);
  EXPECT_EQ(rows.value()[1].replicas, 4);
  EXPECT_EQ(rows.value()[1].instances, 2);
  EXPECT_EQ(rows.value()[1].outside.start, 1);
  EXPECT_EQ(lineOf(rows.value()[1]), kLine);
}

TEST(ScalingRow, SkipsMembersOfLaterVersions) {
  EXPECT_EQ(errorOf(replaced(kLine, "{", R"({"host":"a","spans":{"decode":1},)")), "");
}

TEST(ScalingRow, ErrorsNameFileLineAndCause) {
  const std::string error = errorOf(kLine + replaced(kLine, R"("replicas":4)", R"("replicas":0)"));
  EXPECT_NE(error.find("a.log"), std::string::npos) << error;
  EXPECT_NE(error.find("line 2"), std::string::npos) << error;
  EXPECT_NE(error.find("replicas"), std::string::npos) << error;
}

TEST(ScalingRow, RefusesWhatNoTrainerWrites) {
  for (const auto& [what, with] : std::vector<std::pair<std::string, std::string>>{
           {R"("replicas":4)", R"("replicas":-4)"},
           {R"("replicas":4)", R"("replicas":4.5)"},
           {R"("replicas":4)", R"("replicas":"4")"},
           {R"("replicas":4)", R"("replica":4)"},
           {R"("replicas":4)", R"("replicas":1)"},  // with 2 instances
           {R"("updates":100)", R"("updates":1e3)"},
           {R"("micro_batch":32)", R"("micro_batch":0)"},
           {R"("accumulation":4)", R"("accumulation":0)"},
           {R"("input":0)", R"("input":-1)"},
           {R"("input":0)", R"("input":1e999)"},
           {R"("input":0)", R"("input":1000)"},  // more than all
           {R"("constant":1.5)", R"("constant":null)"},
           {R"("start":1)", R"("start":true)"},
           {R"("seconds")", R"("second")"},
           {"}\n", "\n"},
           {"{", "[{"},
       })
    EXPECT_NE(errorOf(replaced(kLine, what, with)), "") << what << " as " << with;
  EXPECT_NE(errorOf("[]\n"), "");
  EXPECT_NE(errorOf(""), "") << "no rows";
  EXPECT_NE(errorOf("\n \n"), "");
  EXPECT_NE(errorOf('"' + std::string(70'000, 'a') + '"').find("64 KiB"), std::string::npos);
}

TEST(ScalingRow, NothingMayBeKnownBeforeTheFirstUpdate) {
  const Result<std::vector<Row>> rows = parseRows(lineOf({.replicas = 2, .instances = 2}), "a.log");
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_EQ(rows.value()[0].updates, 0);
}

}  // namespace
}  // namespace pop::scaling
