// SPDX-License-Identifier: Apache-2.0
#include "agent/rendezvous/fence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pop::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;

TEST(Fence, IsCompleteWhenEveryInstanceOfTheHostIsInside) {
  Fence fence(3);
  fence.enter(4, "init");
  fence.enter(6, "init");
  fence.enter(4, "init");
  EXPECT_FALSE(fence.complete()) << "the same one again is not another";
  fence.enter(5, "init");
  EXPECT_TRUE(fence.complete());
}

TEST(Fence, RemembersWhoIsInsideAndWhatFor) {
  Fence fence(3);
  fence.enter(6, "barrier");
  fence.enter(4, "init");
  EXPECT_THAT(fence.inside(), ElementsAre(Pair(4, "init"), Pair(6, "barrier")));
  EXPECT_THAT(fence.release({}), ElementsAre(Pair(4, "init"), Pair(6, "barrier")));
  EXPECT_THAT(fence.inside(), IsEmpty());
}

TEST(Fence, IsLeftWithWhatWasPut) {
  Fence fence(2);
  fence.put(0, "address/0", "old");
  fence.put(1, "address/1", "kept");
  fence.enter(0, "init");
  fence.leave(0);
  fence.enter(1, "init");
  EXPECT_FALSE(fence.complete());
  fence.enter(0, "init");
  EXPECT_TRUE(fence.complete());
  EXPECT_THAT(fence.collect(), ElementsAre(Pair("address/1", "kept")));
}

TEST(Fence, ShowsAValueOnlyAfterItsRelease) {
  Fence fence(1);
  fence.put(0, "key", "value");
  EXPECT_EQ(fence.get("key"), std::nullopt);
  fence.enter(0, "init");
  const PutValues collected = fence.collect();
  EXPECT_EQ(fence.get("key"), std::nullopt);
  fence.release(collected);
  EXPECT_THAT(fence.get("key"), Optional(std::string("value")));
}

TEST(Fence, ShowsAllValuesUnderAPrefix) {
  Fence fence(1);
  fence.release({{"a", "0"}, {"a/1", "one"}, {"a/10", "ten"}, {"a0", "other"}, {"b", "last"}});
  fence.put(0, "a/2", "not yet");
  EXPECT_THAT(fence.getAll("a/"), ElementsAre("a/1", "one", "a/10", "ten"));
  EXPECT_THAT(fence.getAll("b"), ElementsAre("b", "last"));
  EXPECT_THAT(fence.getAll("c"), IsEmpty());
}

TEST(Fence, CollectsOnlyWhatIsNew) {
  Fence fence(1);
  fence.put(0, "a", "1");
  EXPECT_THAT(fence.collect(), ElementsAre(Pair("a", "1")));
  fence.put(0, "b", "2");
  fence.put(0, "b", "3");
  EXPECT_THAT(fence.collect(), ElementsAre(Pair("b", "3"))) << "the last put counts";
  EXPECT_THAT(fence.collect(), IsEmpty());
}

TEST(Fence, KeepsOldValuesAndReplacesThoseThatAreReleasedAgain) {
  Fence fence(1);
  fence.release({{"a", "1"}, {"b", "1"}});
  fence.release({{"b", "2"}});
  EXPECT_THAT(fence.get("a"), Optional(std::string("1")));
  EXPECT_THAT(fence.get("b"), Optional(std::string("2")));
}

}  // namespace
}  // namespace pop::agent
