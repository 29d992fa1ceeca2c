// SPDX-License-Identifier: Apache-2.0
#include "controller/core/host_failures.h"

#include <gtest/gtest.h>

namespace pop {
namespace {

TEST(DescribeHosts, NamesOneHostAndItsReason) {
  EXPECT_EQ(describeHosts({{"h7", "connection refused"}}, false), "host h7: connection refused");
  EXPECT_EQ(describeHosts({{"h7", "it is gone"}}, true), "host h7 was lost: it is gone");
}

TEST(DescribeHosts, GroupsHostsByReasonInTheOrderOfTheFirst) {
  EXPECT_EQ(describeHosts({{"a", "refused"}, {"b", "unknown"}, {"c", "refused"}, {"d", "refused"}}, true),
            "hosts a, c and d were lost: refused; host b was lost: unknown");
  EXPECT_EQ(describeHosts({{"a", "refused"}, {"b", "refused"}}, false), "hosts a and b: refused");
}

TEST(DescribeHosts, StaysASentenceForThousands) {
  std::vector<HostFailure> failures;
  for (int host = 0; host < 1000; ++host) failures.push_back({"h" + std::to_string(host), "refused"});
  EXPECT_EQ(describeHosts(failures, false), "hosts h[0-999]: refused");
  failures.clear();
  for (int host = 0; host < 1000; ++host) failures.push_back({std::to_string(host) + "h", "refused"});
  EXPECT_EQ(describeHosts(failures, false),
            "hosts 0h, 1h, 2h, 3h, 4h, 5h, 6h, 7h, 8h, 9h, 10h, 11h, 12h, 13h, 14h, 15h and 984 others: "
            "refused");
}

TEST(DescribeHosts, GroupsReasonsThatNameTheHost) {
  std::vector<HostFailure> failures;
  for (const char* host : {"x1", "x2", "x3", "x4", "x5", "y"}) {
    failures.push_back(
        {host, std::string("looking up its name '") + host + "': not known; check its spelling"});
  }
  EXPECT_EQ(describeHosts(failures, false),
            "hosts x[1-5] and y: looking up its name 'x[1-5], y': not known; check its spelling");
  EXPECT_EQ(describeHosts({failures[0]}, false),
            "host x1: looking up its name 'x1': not known; check its spelling");
}

TEST(DescribeHosts, GroupsReasonsThatNameAnAddress) {
  EXPECT_EQ(describeHosts({{"a", "connecting to 10.0.0.1 port 22: Connection refused"},
                           {"b", "connecting to 10.0.0.7 port 22: Connection refused"},
                           {"c", "connecting to 10.0.0.7 port 22: No route to host"}},
                          false, "\n  "),
            "hosts a and b: connecting to 10.0.0.1, 10.0.0.7 port 22: Connection refused\n"
            "  host c: connecting to 10.0.0.7 port 22: No route to host");
  EXPECT_EQ(
      describeHosts({{"10.0.0.1", "the agent service at 10.0.0.1, port 7571: it wants TLS"},
                     {"10.0.0.2", "the agent service at 10.0.0.2, port 7571: it wants TLS"},
                     {"10.0.0.3", "the agent service at 10.0.0.3, port 7571: it wants TLS"}},
                    false),
      "hosts 10.0.0.1, 10.0.0.2 and 10.0.0.3: the agent service at 10.0.0.[1-3], port 7571: it wants TLS");
}

TEST(DescribeHosts, LetsNoHostBeginALine) {
  EXPECT_EQ(describeHosts({{"a", "fell\npoprun: \x01"}}, false, "\n"), "host a: fell\\x0apoprun: \\x01");
}

TEST(DescribeHosts, HasOneCommandForAllUnknownKeys) {
  const auto reason = [](const std::string& host, const std::string& hash) {
    return "its host key is not in /k: it has ED25519 key SHA256:" + hash +
           ". When you have checked this fingerprint, run: ssh-keyscan -H " + host + " >> /k";
  };
  EXPECT_EQ(
      describeHosts({{"h1", reason("h1", "a+/b")}, {"h2", reason("h2", "cd")}}, false),
      "hosts h1 and h2: its host key is not in /k: it has ED25519 key SHA256:a+/b (h1), SHA256:cd (h2). "
      "When you have checked this fingerprint, run: ssh-keyscan -H h1 h2 >> /k");
}

}  // namespace
}  // namespace pop
