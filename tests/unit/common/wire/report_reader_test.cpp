// SPDX-License-Identifier: Apache-2.0
#include "common/wire/report_reader.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "common/wire/agent_codec.h"
#include "tests/unit/common/wire/agent_messages_samples.h"

namespace pop::wire {
namespace {

constexpr int kTooMany = static_cast<int>(kMaxReportElements) + 1;

// `piece`, over and over, as one message: what a reader of protobuf merges.
Status readTogether(const v1::Report& piece, int elements) {
  const std::string bytes = piece.SerializeAsString();
  std::string message;
  for (int each = 0; each < elements; ++each) message += bytes;
  v1::Report report;
  return readReport(message, report);
}

TEST(ReportReader, ReadsEveryReport) {
  for (const AgentReport& report : testing::sampleReports()) {
    const std::string bytes = encode(NumberedReport{7, report}).SerializeAsString();
    v1::Report read;
    ASSERT_TRUE(readReport(bytes, read).ok());
    EXPECT_EQ(read.SerializeAsString(), bytes);
  }
}

TEST(ReportReader, ReadsALongTextAndAFenceOfManyValues) {
  v1::Report report;
  report.mutable_output()->set_text(std::string(8 << 20, '\n'));
  EXPECT_TRUE(readReport(report.SerializeAsString(), report).ok());
  for (int each = 0; each < 1'000'000; ++each) report.mutable_fence_reached()->mutable_values()->add_values();
  v1::Report read;
  EXPECT_TRUE(readReport(report.SerializeAsString(), read).ok());
  EXPECT_EQ(read.fence_reached().values().values_size(), 1'000'000);
}

TEST(ReportReader, BuildsNothingOfTooManyElementsOfAnyList) {
  const std::pair<const char*, std::function<void(v1::Report&)>> lists[] = {
      {"stacks", [](v1::Report& report) { report.mutable_stacks()->add_traces(); }},
      {"values", [](v1::Report& report) { report.mutable_fence_reached()->mutable_values()->add_values(); }},
      {"ports", [](v1::Report& report) { report.mutable_described()->add_ports(1); }},
      {"nodes", [](v1::Report& report) { report.mutable_described()->mutable_topology()->add_nodes(); }},
      {"cores", [](v1::Report& report) { report.mutable_described()->mutable_topology()->add_cores(); }},
  };
  for (const auto& [name, add] : lists) {
    v1::Report whole;
    for (int each = 0; each < kTooMany; ++each) add(whole);
    v1::Report report;
    EXPECT_EQ(readReport(whole.SerializeAsString(), report).code(), Code::kResourceExhausted) << name;
    EXPECT_FALSE(report.has_stacks() || report.has_described() || report.has_fence_reached()) << name;
    v1::Report one;
    add(one);
    EXPECT_EQ(readTogether(one, kTooMany).code(), Code::kResourceExhausted) << name << " in pieces";
  }
}

TEST(ReportReader, RefusesWhatIsCutShort) {
  v1::Report whole;
  whole.mutable_stacks()->add_traces()->set_text("frame");
  const std::string bytes = whole.SerializeAsString();
  v1::Report report;
  for (std::size_t length = 1; length < bytes.size(); ++length)
    EXPECT_EQ(readReport(bytes.substr(0, length), report).code(), Code::kDataLoss) << length;
}

}  // namespace
}  // namespace pop::wire
