// SPDX-License-Identifier: Apache-2.0
#include "common/model/cpu_set.h"

#include <gtest/gtest.h>

namespace pop::model {
namespace {

TEST(CpuSet, IsWrittenAsLinuxWritesIt) {
  EXPECT_EQ(CpuSet({8, 0, 2, 1, 3, 3}).text(), "0-3,8");
  EXPECT_EQ(CpuSet().text(), "");
  EXPECT_EQ(CpuSet::parse("0-3,8").value(), CpuSet({0, 1, 2, 3, 8}));
}

TEST(CpuSet, RefusesWhatIsNoList) {
  for (const char* text : {"", "a", "3-1", "-1", "1,,2", "0-", "0-99999999"})
    EXPECT_EQ(CpuSet::parse(text).code(), Code::kInvalidArgument) << text;
}

// A short text must not be many numbers.
TEST(CpuSet, RefusesAListThatNamesTheSameCpusOverAndOver) {
  std::string text = "0-65535";
  EXPECT_EQ(CpuSet::parse(text).value().size(), 65536);
  text += ",0-65535";
  EXPECT_EQ(CpuSet::parse(text).code(), Code::kInvalidArgument);
  EXPECT_EQ(CpuSet::parse("3,3").value(), CpuSet({3}));
}

TEST(CpuSet, HasTheOperationsOfSets) {
  const CpuSet a({0, 1, 2});
  const CpuSet b({2, 3});
  EXPECT_EQ(a & b, CpuSet({2}));
  EXPECT_EQ(a | b, CpuSet({0, 1, 2, 3}));
  EXPECT_EQ(a - b, CpuSet({0, 1}));
  EXPECT_TRUE(a.contains(1));
  EXPECT_FALSE(a.contains(3));
}

}  // namespace
}  // namespace pop::model
