// SPDX-License-Identifier: Apache-2.0
#include "common/contract/report_page.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

namespace pop::contract {
namespace {

TEST(ReportPage, HasWhatWasReportedLast) {
  const auto page = std::make_unique<ReportPage>();
  EXPECT_TRUE(readReports(*page).empty());
  addReport(*page, 0, "loss", Fold::kMean, 2.5);
  addReport(*page, 1, std::string(kMostReportedNameBytes, 'n'), Fold::kMax, -1);
  setReport(*page, 0, 1.5);
  const std::vector<ReadReport> read = readReports(*page);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0], (ReadReport{"loss", Fold::kMean, 1.5}));
  EXPECT_EQ(read[1], (ReadReport{std::string(kMostReportedNameBytes, 'n'), Fold::kMax, -1}));
}

// Any instance can write there.
TEST(ReportPage, IsReadWithoutWhatCannotBe) {
  const auto page = std::make_unique<ReportPage>();
  for (std::uint32_t i = 0; i < kMostReportedNames; ++i) addReport(*page, i, "n", Fold::kSum, i);
  page->count.store(std::numeric_limits<std::uint32_t>::max());
  page->slots[0].name_bytes = kMostReportedNameBytes + 1;
  page->slots[1].name_bytes = 0;
  page->slots[2].fold = 3;
  setReport(*page, 3, std::numeric_limits<double>::quiet_NaN());
  setReport(*page, 4, std::numeric_limits<double>::infinity());
  const std::vector<ReadReport> read = readReports(*page);
  ASSERT_EQ(read.size(), kMostReportedNames - 5);
  EXPECT_EQ(read[0].value, 5);
}

}  // namespace
}  // namespace pop::contract
