// SPDX-License-Identifier: Apache-2.0
// Processes that were started by hand on two hosts, which are network namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/integration_popdist/cluster/hand_started.h"
#include "tests/testing/test_hosts.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

class ClusterOverHosts : public ::testing::Test {
 protected:
  ClusterOverHosts() : hosts(2) {}

  HandStarted startOn(int host, const std::vector<std::string>& workers, const std::string& what) {
    return HandStarted::command(hosts.commandOn(host, {CLUSTER_CHILD_PATH, what, "20000"}),
                                {{"TF_CONFIG", tfConfigOf(workers, host)}});
  }

  TestHosts hosts;
};

TEST_F(ClusterOverHosts, ComesTogetherByNamesAndByAddresses) {
  const std::vector<std::vector<std::string>> lists{
      {hosts.name(0) + ":3737", hosts.name(1) + ":3737"},
      {'[' + hosts.address6(0) + "]:3737", '[' + hosts.address6(1) + "]:3737"}};
  for (const std::vector<std::string>& workers : lists) {
    HandStarted second = startOn(1, workers, "together");
    HandStarted first = startOn(0, workers, "together");
    EXPECT_EQ(first.wait(), 0) << first.out();
    EXPECT_EQ(second.wait(), 0) << second.out();
    EXPECT_THAT(second.out(), HasSubstr("together 1 of 2"));
  }
}

TEST_F(ClusterOverHosts, IndexOfTheOtherHostIsNotTaken) {
  const std::vector<std::string> workers{hosts.address(1) + ":3737", hosts.address(0) + ":3737"};
  HandStarted wrong = startOn(0, workers, "together");
  EXPECT_EQ(wrong.wait(), kFailedPreconditionCode) << wrong.out();
  EXPECT_THAT(wrong.out(), HasSubstr("is not of this host"));
}

}  // namespace
}  // namespace pop::testing
