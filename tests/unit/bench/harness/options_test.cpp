// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<LaunchOptions> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "bench/launch");
  return parseLaunchOptions(static_cast<int>(arguments.size()), arguments.data());
}

TEST(LaunchOptions, ListsAreSeparatedByCommas) {
  const auto options = parse({"--n", "1,128", "--only", "poprun,hydra"});
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_THAT(options.value().process_counts, ElementsAre(1, 128));
  EXPECT_THAT(options.value().only, ElementsAre("poprun", "hydra"));
}

TEST(LaunchOptions, QuickKeepsWhatIsAskedFor) {
  const auto options = parse({"--quick", "--n", "32"});
  ASSERT_TRUE(options.ok());
  EXPECT_THAT(options.value().process_counts, ElementsAre(32));
  EXPECT_EQ(options.value().repeats, 3);
  EXPECT_EQ(options.value().quiet_timeout.count(), 0);
}

TEST(LaunchOptions, AnUnknownContestantIsNamed) {
  EXPECT_THAT(parse({"--only", "mpirum"}).status().message(), HasSubstr("mpirum"));
}

TEST(LaunchOptions, LargeJobsAreRepeatedLessAndMayTakeLonger) {
  const LaunchOptions options = parse({"--repeats", "20"}).value();
  EXPECT_EQ(options.repeatsOf(128), 20);
  EXPECT_EQ(options.repeatsOf(1024), 3);
  EXPECT_GT(options.timeLimitOf(1024), options.timeLimitOf(1));
}

TEST(LaunchOptions, HostsHaveContestantsOfTheirOwnAndManyOfThemAreRepeatedLess) {
  const auto options = parse({"--hosts", "1,8,32", "--per-host", "1,8", "--only", "poprun,ssh-curve25519"});
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_THAT(options.value().host_counts, ElementsAre(1, 8, 32));
  EXPECT_THAT(options.value().per_host, ElementsAre(1, 8));
  EXPECT_EQ(options.value().repeatsOnHosts(8), 11);
  EXPECT_EQ(options.value().repeatsOnHosts(32), 7);
  EXPECT_FALSE(parse({"--hosts", "0"}).ok());
}

}  // namespace
}  // namespace pop::bench
