// SPDX-License-Identifier: Apache-2.0
// All collectives between real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/integration_popdist/reported_error.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

class CollectivesUnderPoprun : public ::testing::TestWithParam<int> {};

TEST_P(CollectivesUnderPoprun, GiveExactResults) {
  const Outcome outcome = run(childSetup(GetParam(), {"collectives"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST_P(CollectivesUnderPoprun, GiveExactResultsOverTcp) {
  PoprunSetup setup = childSetup(GetParam(), {"collectives"});
  setup.options.insert(setup.options.begin(), {"-x", "POPDIST_TRANSPORT=tcp"});
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST_P(CollectivesUnderPoprun, AreMatchedByNameWhenAsynchronous) {
  const Outcome outcome = run(childSetup(GetParam(), {"asynchronous"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

// A container that has the host's network is like this: descriptors of memory come over the agent's socket,
// and only reading each other's private memory goes by numbers of processes, which mean nothing there.
TEST(CollectivesInNamespaces, ShareMemoryWithTheOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make namespaces";
  const std::string script =
      "[ $POPDIST_INSTANCE_INDEX = 1 ] && exec unshare --mount --pid --ipc --fork --mount-proc \"$0\" "
      "\"$@\"; "
      "exec \"$0\" \"$@\"";
  for (const char* const what : {"collectives", "asynchronous"}) {
    PoprunSetup setup{.options = {"--num-instances", "3", "sh", "-c", script, POPDIST_CHILD_PATH, what}};
    const Outcome outcome = run(setup);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
  PoprunSetup measured{.options = {"--num-instances", "3", "--tag-output", "no", "sh", "-c", script,
                                   ALGORITHMS_PATH, "--op", "allReduce", "--bytes", "1M", "--repeats", "1"}};
  const Outcome outcome = run(measured);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("3 instances through this host's memory"));
}

INSTANTIATE_TEST_SUITE_P(Instances, CollectivesUnderPoprun, ::testing::Values(1, 2, 3, 4, 5, 8),
                         [](const auto& param_info) { return std::to_string(param_info.param); });

}  // namespace
}  // namespace pop::testing
