// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/training_speed/contestants.h"

namespace pop::bench {
namespace {

Result<TrainingOptions> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "bench/training");
  return parseTrainingOptions(static_cast<int>(arguments.size()), arguments.data());
}

TEST(TrainingOptionsOf, TenEpochsByDefault) {
  EXPECT_EQ(parse({}).value().epochs, 10);
}

TEST(TrainingOptionsOf, TakesEachOption) {
  const Result<TrainingOptions> options = parse({"--epochs", "3", "--rounds", "2", "--only", "example,ddp",
                                                 "--quiet-timeout-ms", "0", "--time-limit-ms", "5000"});
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_EQ(options.value().epochs, 3);
  EXPECT_EQ(options.value().rounds, 2);
  EXPECT_EQ(options.value().only, (std::vector<std::string>{"example", "ddp"}));
  EXPECT_EQ(options.value().quiet_timeout.count(), 0);
  EXPECT_EQ(options.value().time_limit.count(), 5000);
}

TEST(TrainingOptionsOf, RefusesOneEpochWhichHasNoLast) {
  EXPECT_NE(parse({"--epochs", "1"}).status().message().find("--epochs"), std::string::npos);
}

TEST(TrainingOptionsOf, NamesAnUnknownContestant) {
  EXPECT_NE(parse({"--only", "horovod"}).status().message().find("horovod"), std::string::npos);
}

}  // namespace
}  // namespace pop::bench
