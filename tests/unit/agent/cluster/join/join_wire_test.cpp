// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/join/join_wire.h"

#include <gtest/gtest.h>

#include <string>

namespace pop::joining {
namespace {

TEST(JoinWire, SaysWhereAndAsWhomToConnect) {
  const Connect connect{"h0:8090", "authority", "certificate", std::string("k\0y", 3)};
  const std::string said = message(Kind::kConnect, encode(connect));
  EXPECT_EQ(kindOf(said).value(), Kind::kConnect);
  EXPECT_EQ(decodeConnect(bodyOf(said)).value(), connect);
}

TEST(JoinWire, RefusesWhatIsNone) {
  EXPECT_EQ(kindOf("").code(), Code::kDataLoss);
  EXPECT_EQ(kindOf("?").code(), Code::kDataLoss);
  EXPECT_FALSE(decodeConnect("").ok());
  EXPECT_FALSE(decodeConnect(encode({}).substr(1)).ok());
}

}  // namespace
}  // namespace pop::joining
