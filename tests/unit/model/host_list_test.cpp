// SPDX-License-Identifier: Apache-2.0
#include "common/model/host_list.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pop::model {
namespace {

using Hosts = std::vector<std::string>;

TEST(HostList, KeepsTheUsersOrder) {
  EXPECT_EQ(parseHostList("node2,node1").value(), (Hosts{"node2", "node1"}));
  EXPECT_EQ(parseHostList("localhost").value(), (Hosts{"localhost"}));
}

TEST(HostList, RefusesEmptyNames) {
  for (const char* text : {"", ",", "a,", ",a", "a,,b"}) {
    const Result<Hosts> hosts = parseHostList(text);
    ASSERT_FALSE(hosts.ok()) << text;
    EXPECT_EQ(hosts.status(), invalidArgument('\'' + std::string(text) + "' has an empty host name"));
  }
}

TEST(HostList, RefusesRepeatedNames) {
  EXPECT_EQ(parseHostList("a,b,a").status(), invalidArgument("'a,b,a' names a twice"));
}

TEST(IsThisHost, KnowsItsOwnNames) {
  for (const char* own : {"localhost", "127.0.0.1", "::1", "node7"})
    EXPECT_TRUE(isThisHost(own, "node7")) << own;
  for (const char* other : {"node8", "node70", "NODE7", "", "127.0.0.2"})
    EXPECT_FALSE(isThisHost(other, "node7"));
}

}  // namespace
}  // namespace pop::model
