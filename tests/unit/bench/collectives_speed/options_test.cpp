// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace pop::bench::collectives {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Options> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "bench_collectives");
  return parseOptions(static_cast<int>(words.size()), words.data());
}

TEST(CollectivesOptions, SizesHaveUnits) {
  const auto options =
      parse({"--bytes", "8,64K,1M", "--large", "--op", "barrier,all-reduce", "--ranks", "2"});
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_THAT(options.value().bytes, ElementsAre(8, 64 * kKiB, kMiB, 128 * kMiB));
  EXPECT_THAT(options.value().operations, ElementsAre(Operation::kBarrier, Operation::kAllReduce));
}

TEST(CollectivesOptions, WhatIsAskedForByNameCountsInAQuickRunToo) {
  const auto options = parse({"--quick", "--ranks", "8"});
  ASSERT_TRUE(options.ok());
  EXPECT_THAT(options.value().ranks, ElementsAre(8));
  EXPECT_THAT(options.value().only, ElementsAre("private", "shared"));
  EXPECT_EQ(options.value().batchesOfRun(), 2);
}

TEST(CollectivesOptions, BatchesAreSpreadOverRounds) {
  const auto options = parse({"--repeats", "11"});
  ASSERT_TRUE(options.ok());
  EXPECT_GE(options.value().batchesOfRun() * options.value().rounds, 11);
}

TEST(CollectivesOptions, EachHostHasOneCoreAsFarAsThereAreCores) {
  Options options;
  EXPECT_EQ(options.coresOfRanks(4), 4);
  options.hosts = 2;
  EXPECT_EQ(options.coresOfRanks(4), 2);
  options.hosts = 8;
  EXPECT_EQ(options.coresOfRanks(4), 4);
}

TEST(CollectivesOptions, MistakesAreNamed) {
  EXPECT_THAT(parse({"--op", "all-reduce,scan"}).status().message(), HasSubstr("scan"));
  EXPECT_THAT(parse({"--only", "nobody"}).status().message(), HasSubstr("nobody"));
  EXPECT_THAT(parse({"--ranks", "1"}).status().message(), HasSubstr("1"));
}

TEST(CollectivesOptions, BarriersHaveOneSizeAndShortFloatsAreReducedFrom1MiBOn) {
  const auto options = parse({"--bytes", "8,1M", "--ranks", "2"});
  ASSERT_TRUE(options.ok());
  const std::vector<Cell> cells = cellsOf(options.value());
  EXPECT_EQ(std::count_if(cells.begin(), cells.end(),
                          [](const Cell& cell) { return cell.operation == Operation::kBarrier; }),
            1);
  std::vector<std::string> shorts;
  for (const Cell& cell : cells) {
    if (cell.type != popdist::Type::kFloat) shorts.push_back(inWords(cell));
  }
  EXPECT_THAT(shorts,
              ElementsAre("all-reduce of bfloat16, 2 ranks, 1 MiB", "all-reduce of half, 2 ranks, 1 MiB"));
}

}  // namespace
}  // namespace pop::bench::collectives
