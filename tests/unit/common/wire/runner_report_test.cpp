// SPDX-License-Identifier: Apache-2.0
// Runners' reports that a host passes on: all that the daemon can decode, and nothing else.
#include "common/wire/runner_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/base/random.h"

namespace pop::wire {
namespace {

v1::RunnerReport records(int count) {
  v1::RunnerReport report;
  report.mutable_records()->set_stream(7);
  for (int i = 0; i < count; ++i) {
    v1::StoredRecord& record = *report.mutable_records()->add_records();
    record.set_sequence(static_cast<std::uint64_t>(i));
    record.set_kind(2);
    record.set_bytes("\xff output");
  }
  return report;
}

v1::RunnerReport end(const std::string& problem) {
  v1::RunnerReport report;
  report.mutable_end()->set_problem(problem);
  return report;
}

Code codeOf(const std::string& report) {
  return outlineOfRunnerReport(report).code();
}

TEST(RunnerReportOutline, TellsTheFirstOfARunner) {
  v1::RunnerReport up;
  up.mutable_up()->set_last_sequence(3);
  EXPECT_TRUE(outlineOfRunnerReport(up.SerializeAsString()).value().is_up);
  EXPECT_FALSE(outlineOfRunnerReport(records(3).SerializeAsString()).value().is_up);
  EXPECT_FALSE(outlineOfRunnerReport("").value().is_up);
}

TEST(RunnerReportOutline, TakesWhatARunnerSays) {
  for (const v1::RunnerReport& report : {records(0), records(1000), end("die Datei fehlt: ö")})
    EXPECT_EQ(codeOf(report.SerializeAsString()), Code::kOk) << report.SerializeAsString();
}

TEST(RunnerReportOutline, RefusesTextThatIsNone) {
  std::string report = end("abc").SerializeAsString();
  report.back() = '\xff';
  EXPECT_EQ(codeOf(report), Code::kDataLoss);
}

TEST(RunnerReportOutline, RefusesNamesOfValuesThatAreNoText) {
  v1::RunnerReport report;
  report.mutable_values()->add_values()->set_name("loss");
  EXPECT_TRUE(outlineOfRunnerReport(report.SerializeAsString()).ok());
  std::string bytes = report.SerializeAsString();
  bytes[bytes.find("loss")] = '\xff';
  EXPECT_FALSE(outlineOfRunnerReport(bytes).ok());
}

TEST(RunnerReportOutline, RefusesMoreRecordsThanAnybodySends) {
  std::string many;
  for (int i = 0; i < (300 << 10); ++i) many += std::string("\x12\x00", 2);
  std::string size;
  for (std::size_t left = many.size(); left > 0; left >>= 7)
    size += static_cast<char>((left & 127U) | (left > 127 ? 128U : 0U));
  EXPECT_EQ(codeOf("\x12" + size + many), Code::kDataLoss);
}

// All reports that pass can be decoded, damaged ones, too.
TEST(RunnerReportOutline, LetsNothingPassThatCannotBeDecoded) {
  SplitMix64 random(1);
  int passed = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes =
        (round % 2 == 0 ? records(3) : end("a text of some length, with ö")).SerializeAsString();
    for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes)
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    if (random.below(4) == 0) bytes.resize(random.below(bytes.size()));
    if (codeOf(bytes) != Code::kOk) continue;
    ++passed;
    v1::RunnerReport decoded;
    ASSERT_TRUE(decoded.ParseFromString(bytes)) << "round " << round;
  }
  EXPECT_GT(passed, 1000);
}

TEST(RunnerSaid, IsTheHostsReport) {
  v1::RunnerKey key;
  key.set_job(41);
  key.set_attempt(2);
  const v1::RunnerReport report = records(100);
  v1::HostReport decoded;
  ASSERT_TRUE(decoded.ParseFromString(runnerSaid(key, report.SerializeAsString())));
  ASSERT_TRUE(decoded.has_said());
  EXPECT_EQ(decoded.said().key().job(), 41);
  EXPECT_EQ(decoded.said().key().attempt(), 2);
  EXPECT_EQ(decoded.said().report().SerializeAsString(), report.SerializeAsString());
}

}  // namespace
}  // namespace pop::wire
