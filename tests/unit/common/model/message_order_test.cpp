// SPDX-License-Identifier: Apache-2.0
#include "common/ports/message_order.h"

#include <gtest/gtest.h>

namespace pop {
namespace {

using Verdict = MessageOrder::Verdict;

TEST(MessageOrder, BeginsWithOneAndGoesUpByOne) {
  MessageOrder order;
  for (const std::uint64_t number : {1U, 2U, 3U}) EXPECT_EQ(order.take(number), Verdict::kNext);
}

TEST(MessageOrder, KnowsWhatItHasSeen) {
  MessageOrder order;
  EXPECT_EQ(order.take(0), Verdict::kDuplicate);
  EXPECT_EQ(order.take(1), Verdict::kNext);
  EXPECT_EQ(order.take(1), Verdict::kDuplicate);
  EXPECT_EQ(order.take(2), Verdict::kNext);
  EXPECT_EQ(order.take(1), Verdict::kDuplicate);
}

TEST(MessageOrder, ShowsThatSomethingIsMissing) {
  MessageOrder order;
  EXPECT_EQ(MessageOrder().take(2), Verdict::kGap);
  EXPECT_EQ(order.take(1), Verdict::kNext);
  EXPECT_EQ(order.take(3), Verdict::kGap);
  EXPECT_EQ(order.gapText(3), "message 3 followed message 1 on its link");
}

}  // namespace
}  // namespace pop
