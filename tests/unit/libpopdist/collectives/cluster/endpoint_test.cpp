// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/cluster/endpoint.h"

#include <gtest/gtest.h>

namespace popdist::cluster {
namespace {

TEST(Endpoint, HasANameOrAnAddressAndAPort) {
  EXPECT_EQ(parseEndpoint("localhost:3737").value(), (Endpoint{"localhost", 3737}));
  EXPECT_EQ(parseEndpoint("10.0.0.1:1").value(), (Endpoint{"10.0.0.1", 1}));
  EXPECT_EQ(parseEndpoint("node-1.my_net:65535").value(), (Endpoint{"node-1.my_net", 65535}));
  EXPECT_EQ(parseEndpoint("[fd00::2]:80").value(), (Endpoint{"fd00::2", 80}));
  EXPECT_EQ(parseEndpoint("[fe80::1%eth0]:80").value(), (Endpoint{"fe80::1%eth0", 80}));
}

TEST(Endpoint, IsTheSameInAnyCase) {
  EXPECT_EQ(parseEndpoint("Node:1").value(), parseEndpoint("node:1").value());
  EXPECT_EQ(parseEndpoint("[FD00::A]:1").value(), parseEndpoint("[fd00::a]:1").value());
}

TEST(Endpoint, IsNothingElse) {
  for (const char* const text : {"",
                                 ":",
                                 "host",
                                 "host:",
                                 ":80",
                                 "host:0",
                                 "host:65536",
                                 "host:-1",
                                 "host:+1",
                                 "host:8o",
                                 "host: 80",
                                 " host:80",
                                 "ho st:80",
                                 "fd00::2:80",
                                 "::1",
                                 "[::1]",
                                 "[::1]80",
                                 "[]:80",
                                 "[host]:80",
                                 "[::1:80",
                                 "http://host:80",
                                 "host:80/path",
                                 "user@host:80",
                                 "host:999999999999999999999",
                                 "h\xc3\xb6st:80",
                                 "host:80\n"}) {
    EXPECT_EQ(parseEndpoint(text).code(), pop::Code::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace popdist::cluster
