// SPDX-License-Identifier: Apache-2.0
// Pods as those see them who watch the daemon.
#include "tests/unit/popdistd/pods/pods_fixture.h"

namespace pop::popdistd::testing {
namespace {

using PodWatchTest = PodsTest;

TEST_F(PodWatchTest, WatchersSeePartitions) {
  const auto source = std::move(core_->watch({"alice", ""}, v1::WatchRequest(), [] {}).value());
  while (source->next()) {
  }
  create("p4", 4);
  const auto made = source->next();
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->partition().id(), "p4");
  EXPECT_FALSE(source->next());
  remove("p4");
  EXPECT_EQ((*source->next())->partition_removed(), "p4");
}

TEST_F(PodWatchTest, WatchersHearThatTheInventoryHasChanged) {
  join("h0");
  const std::unique_ptr<Source<ShownChange>> source = core_->watch({"alice", ""}, {}, [] {}).value();
  const auto hearsOfTheInventory = [&source] {
    bool heard = false;
    while (const std::optional<ShownChange> change = source->next())
      heard = (*change)->has_inventory() || heard;
    return heard;
  };
  hearsOfTheInventory();
  EXPECT_FALSE(hearsOfTheInventory());
  v1::DrainAgentRequest request;
  request.mutable_agent()->set_id("m0");
  request.set_reason("fan");
  call(pods(), &PodsApi::drainAgent, "root", request);
  EXPECT_TRUE(hearsOfTheInventory());
  hosts_.at("h0").loseConnection();
  advance(seconds(70));
  EXPECT_TRUE(hearsOfTheInventory()) << "its machines are lost";
  advance(seconds(5));
  EXPECT_FALSE(hearsOfTheInventory());
  v1::AllocationRef allocation;
  allocation.set_id("default");
  call(pods(), &PodsApi::removeAllocation, "root", allocation);
  EXPECT_TRUE(hearsOfTheInventory());
}

// The allocation has changed and is gone before they look.
TEST_F(PodWatchTest, WatchersHearOfTheEndOfPartitionsThatTheyMayUseOnly) {
  ASSERT_EQ(allow("alice"), Code::kOk);
  using Watch = std::unique_ptr<Source<ShownChange>>;
  const auto watch = [this](const Caller& caller) -> Watch {
    return std::move(core_->watch(caller, {}, [] {}).value());
  };
  const auto heard = [](const Watch& each) {
    std::string all;
    while (const std::optional<ShownChange> change = each->next()) all += (*change)->SerializeAsString();
    return all;
  };
  std::map<std::string, Watch> watches;
  for (const char* const user : {"alice", "bob", "root"}) watches[user] = watch(callerOf(user));
  watches["root's token"] = watch({.user = "root", .role = v1::ROLE_SUBMIT});
  for (const auto& [who, each] : watches) heard(each);
  create("secret", 4);
  remove("secret");
  allow("bob");
  v1::AllocationRef allocation;
  allocation.set_id("default");
  ASSERT_EQ(call(pods(), &PodsApi::removeAllocation, "root", allocation).code(), Code::kOk);
  for (const auto& [who, each] : watches) {
    const bool may = who == "alice" || who == "root";
    EXPECT_EQ(heard(each).find("secret") != std::string::npos, may) << who;
  }
}

TEST_F(PodWatchTest, WatchersHearOfTheEndOfPartitionsThatTheyMightUseOnce) {
  ASSERT_EQ(allow("alice"), Code::kOk);
  const auto source = std::move(core_->watch(callerOf("alice"), {}, [] {}).value());
  const auto heard = [&source] {
    std::string removed;
    while (const std::optional<ShownChange> change = source->next())
      removed += (*change)->partition_removed();
    return removed;
  };
  create("p0", 4);
  EXPECT_EQ(heard(), "");
  ASSERT_EQ(allowOnly("bob"), Code::kOk);
  ASSERT_EQ(create("later", 4, "bob").code(), Code::kOk);
  remove("p0", false, "bob");
  remove("later", false, "bob");
  EXPECT_EQ(heard(), "p0");
}

}  // namespace
}  // namespace pop::popdistd::testing
