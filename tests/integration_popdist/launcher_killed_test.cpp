// SPDX-License-Identifier: Apache-2.0
// poprun is killed with SIGKILL while its instances are in the middle of a collective, ignoring SIGTERM.
#include <gtest/gtest.h>

#include "tests/integration_popdist/reported_error.h"

namespace pop::testing {
namespace {

TEST(KilledLauncherOfACollective, LeavesNothing) {
  for (const char* count : {"1", "1000000"}) {
    PoprunProcess poprun(childSetup(4, {"sum-forever", count}));
    ASSERT_EQ(poprun.waitReady(4).size(), 4U);
    poprun.signal(SIGKILL);
    EXPECT_TRUE(poprun.goneWithin(kTimeout).has_value()) << "left: " << poprun.leftNow();
    EXPECT_EQ(poprun.wait(), -SIGKILL);
  }
}

}  // namespace
}  // namespace pop::testing
