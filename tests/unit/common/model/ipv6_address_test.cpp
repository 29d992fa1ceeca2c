// SPDX-License-Identifier: Apache-2.0
#include "common/model/ipv6_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <string>

#include "common/base/random.h"

namespace pop::model {
namespace {

bool systemTakes(const std::string& text) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET6, text.c_str(), &ignored) == 1;
}

TEST(Ipv6Address, IsWhatTheSystemTakes) {
  SplitMix64 random(1);
  const std::string pieces[] = {"0",  "1",       "ffff",  "12345",     "g",        ":",       ":", ":",
                                "::", "1.2.3.4", "1.2.3", "256.0.0.1", "01.2.3.4", "1:2:3:4", ""};
  int addresses = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text;
    for (std::uint64_t count = random.below(12); count > 0; --count)
      text += pieces[random.below(std::size(pieces))];
    ASSERT_EQ(isIpv6Address(text), systemTakes(text)) << text;
    addresses += systemTakes(text) ? 1 : 0;
  }
  EXPECT_GT(addresses, 1000);
}

TEST(Ipv6Address, MayNameAnInterface) {
  EXPECT_TRUE(isIpv6Address("fe80::1%eth0"));
  EXPECT_FALSE(isIpv6Address("fe80::1%"));
  EXPECT_FALSE(isIpv6Address("fe80%eth0"));
}

}  // namespace
}  // namespace pop::model
