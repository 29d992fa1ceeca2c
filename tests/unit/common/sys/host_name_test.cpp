// SPDX-License-Identifier: Apache-2.0
#include "common/sys/host_name.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>

namespace pop::sys {
namespace {

TEST(HostName, IsThatOfTheKernel) {
  utsname names{};
  ASSERT_EQ(::uname(&names), 0);
  EXPECT_EQ(hostName(), names.nodename);
}

}  // namespace
}  // namespace pop::sys
