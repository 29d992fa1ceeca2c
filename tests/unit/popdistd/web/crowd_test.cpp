// SPDX-License-Identifier: Apache-2.0
// Which HTTP connection goes where there are too many.
#include "popdistd/web/crowd.h"

#include <gtest/gtest.h>

#include <vector>

namespace pop::popdistd::web {
namespace {

std::uint64_t first(const std::vector<Standing>& connections) {
  return goesFirst(connections).value_or(0);
}

TEST(HttpCrowd, NobodysConnectionsGoBeforeThoseOfUsers) {
  EXPECT_EQ(first({{1, "a", "alice"}, {2, "a", "alice"}, {3, "b", std::nullopt}}), 3U);
  EXPECT_EQ(first({}), 0U);
}

TEST(HttpCrowd, TheAddressThatHasMostLosesItsOldest) {
  EXPECT_EQ(first({{1, "a", std::nullopt}, {2, "b", std::nullopt}, {3, "b", std::nullopt}}), 2U);
}

TEST(HttpCrowd, TheUserWhoHasMostLosesAnIdleOneFirst) {
  const Standing busy{.number = 2, .address = "b", .user = "bob", .is_busy = true};
  EXPECT_EQ(first({{1, "a", "alice"}, busy, {3, "b", "bob"}}), 3U);
  const Standing busy_too{.number = 3, .address = "c", .user = "bob", .is_busy = true};
  EXPECT_EQ(first({{1, "a", "alice"}, busy, busy_too}), 2U);
}

}  // namespace
}  // namespace pop::popdistd::web
