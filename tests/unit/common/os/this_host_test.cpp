// SPDX-License-Identifier: Apache-2.0
#include "common/os/this_host.h"

#include <gtest/gtest.h>

namespace pop::os {
namespace {

TEST(IsOwnAddress, IsOneOfAnInterface) {
  EXPECT_TRUE(isOwnAddress("127.0.0.1"));
  for (const char* other : {"127.0.0.2", "192.0.2.254", "localhost", "", "1", "fe80::1"})
    EXPECT_FALSE(isOwnAddress(other)) << other;
}

TEST(OwnNames, AreThoseThatStandBesideOne) {
  const OwnNames names("node7",
                       "127.0.0.1 localhost\n127.0.1.1\tnode7.example.com Node7 # mine\n127.0.0.1 tunnel\n"
                       "192.0.2.254 node8 node7-ib\n127.0.0.1 node8 node7 late\n::1 ip6-localhost\n");
  for (const char* own : {"node7.example.com", "NODE7.example.com", "node7", "late"})
    EXPECT_TRUE(names.contains(own)) << own;
  for (const char* other :
       {"tunnel", "node8", "node7-ib", "mine", "127.0.1.1", "ip6-localhost", "", "node70"})
    EXPECT_FALSE(names.contains(other)) << other;
}

}  // namespace
}  // namespace pop::os
