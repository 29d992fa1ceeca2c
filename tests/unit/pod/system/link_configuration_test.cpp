// SPDX-License-Identifier: Apache-2.0
#include "pod/system/link_configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop::pod {
namespace {

using ::testing::HasSubstr;

bool allowed(LinkConfiguration configuration, IldTopology topology, int ipus) {
  return checkLinkConfiguration(configuration, topology, ipus).ok();
}

TEST(LinkConfiguration, AllowsWhatPoplibsAllows) {
  for (const int ipus : {1, 2, 4, 8, 16}) {
    EXPECT_TRUE(allowed(LinkConfiguration::kDefault, IldTopology::kMesh, ipus)) << ipus;
    EXPECT_TRUE(allowed(LinkConfiguration::kDefault, IldTopology::kTorus, ipus)) << ipus;
    EXPECT_EQ(allowed(LinkConfiguration::kSlidingWindow, IldTopology::kMesh, ipus), ipus <= 2) << ipus;
    EXPECT_EQ(allowed(LinkConfiguration::kSlidingWindow, IldTopology::kTorus, ipus), ipus <= 4) << ipus;
    EXPECT_EQ(allowed(LinkConfiguration::kBarleyTwist, IldTopology::kBarleyTwist, ipus), ipus == 1) << ipus;
    EXPECT_FALSE(allowed(LinkConfiguration::kBarleyTwist, IldTopology::kTorus, ipus)) << ipus;
    EXPECT_FALSE(allowed(LinkConfiguration::kDefault, IldTopology::kBarleyTwist, ipus)) << ipus;
  }
}

TEST(LinkConfiguration, ARefusalNamesWhatCanRun) {
  const Status status = checkLinkConfiguration(LinkConfiguration::kSlidingWindow, IldTopology::kTorus, 8);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("8 IPUs with link configuration slidingWindow on a torus"));
  EXPECT_THAT(status.message(), HasSubstr("use 1, 2 or 4 IPUs per replica"));
}

}  // namespace
}  // namespace pop::pod
