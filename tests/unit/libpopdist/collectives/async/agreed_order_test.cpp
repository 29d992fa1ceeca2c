// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/async/agreed_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libpopdist/collectives/group/collective_call.h"

namespace popdist::async {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Announcement sumOf(const std::string& name, std::uint64_t count = 8) {
  const group::CallKey key{plan::Operation::kAllReduce, Type::kFloat, Operator::kSum, false, 0};
  return {name, key.packed(), count};
}

std::vector<std::string> namesOf(const std::vector<Agreed>& agreed) {
  std::vector<std::string> names;
  for (const Agreed& each : agreed) names.push_back(each.name);
  return names;
}

TEST(Agreement, ACallIsDueWhenAllHaveAnnouncedIt) {
  Agreement agreement(3);
  agreement.add(0, sumOf("a"));
  agreement.add(2, sumOf("a"));
  EXPECT_THAT(agreement.takeAgreed(), IsEmpty());
  EXPECT_THAT(agreement.ranksWithout("a"), ElementsAre(1));
  agreement.add(1, sumOf("a"));
  EXPECT_THAT(namesOf(agreement.takeAgreed()), ElementsAre("a"));
  EXPECT_THAT(agreement.takeAgreed(), IsEmpty());
}

TEST(Agreement, WhoHasAnnouncedWhatOthersHaveNotAwaitsThem) {
  Agreement agreement(3);
  EXPECT_FALSE(agreement.awaitsOthers(0) || agreement.isAwaited(0));
  agreement.add(0, sumOf("a"));
  agreement.add(1, sumOf("a"));
  EXPECT_TRUE(agreement.awaitsOthers(0) && !agreement.isAwaited(0));
  EXPECT_TRUE(!agreement.awaitsOthers(2) && agreement.isAwaited(2));
  agreement.add(2, sumOf("b"));
  EXPECT_TRUE(agreement.awaitsOthers(0) && agreement.isAwaited(0));
  EXPECT_TRUE(agreement.awaitsOthers(2) && agreement.isAwaited(2));
  agreement.add(2, sumOf("a"));
  static_cast<void>(agreement.takeAgreed());
  EXPECT_TRUE(!agreement.awaitsOthers(0) && agreement.isAwaited(0)) << "'a' is done, 'b' is not";
}

TEST(Agreement, CallsAreDueInTheOrderInWhichTheyBecameComplete) {
  Agreement agreement(2);
  for (const char* name : {"a", "b", "c"}) agreement.add(0, sumOf(name));
  for (const char* name : {"c", "a", "b"}) agreement.add(1, sumOf(name));
  EXPECT_THAT(namesOf(agreement.takeAgreed()), ElementsAre("c", "a", "b"));
}

TEST(Agreement, ANameMayComeAgain) {
  Agreement agreement(2);
  for (int turn = 0; turn < 2; ++turn) {
    agreement.add(0, sumOf("a"));
    EXPECT_THAT(agreement.takeAgreed(), IsEmpty());
    agreement.add(1, sumOf("a"));
    EXPECT_THAT(namesOf(agreement.takeAgreed()), ElementsAre("a"));
  }
}

TEST(Agreement, WhatDoesNotMatchIsNamedWithBothCalls) {
  Agreement agreement(3);
  agreement.add(2, sumOf("a", 9));
  agreement.add(0, sumOf("a"));
  agreement.add(1, sumOf("a"));
  const std::vector<Agreed> agreed = agreement.takeAgreed();
  ASSERT_EQ(agreed.size(), 1U);
  EXPECT_EQ(agreed[0].odd_rank, 2);
  EXPECT_EQ(agreed[0].mismatch,
            "rank 2 does not match: it calls allReduce (sum of 9 float 'a'), rank 0 calls allReduce (sum of "
            "8 float "
            "'a')");
}

TEST(Agreement, SaysWhatThoseWaitForWhoLackAName) {
  Agreement agreement(3);
  agreement.add(1, sumOf("older"));
  agreement.add(0, sumOf("name"));
  agreement.add(1, sumOf("another"));
  EXPECT_EQ(agreement.describeRanksWithout("name"), "rank 1, which waits for 'older', and rank 2");
  EXPECT_EQ(agreement.describeRanksWithout("older"), "rank 0, which waits for 'name', and rank 2");
  EXPECT_THAT(agreement.ranksWithout("nobody's"), IsEmpty());
}

}  // namespace
}  // namespace popdist::async
