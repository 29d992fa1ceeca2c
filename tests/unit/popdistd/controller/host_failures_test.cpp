// SPDX-License-Identifier: Apache-2.0
#include "popdistd/controller/host_failures.h"

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
  const std::string text = describeHosts(failures, false);
  EXPECT_EQ(text,
            "hosts h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15 and 984 others: "
            "refused");
}

}  // namespace
}  // namespace pop
