// SPDX-License-Identifier: Apache-2.0
// Holders of a partition: jobs whose host is silent, and programs that hold one by a stream.
#include "tests/unit/popdistd/pods/pods_fixture.h"

namespace pop::popdistd::testing {
namespace {

constexpr const char* kToken = "0123456789abcdef";

class QuarantineTest : public PodsTest {
 protected:
  QuarantineTest() {
    join("h0", 100);
    create("p", 16, "alice", 2);
    v1::SubmitRequest request = inPartition("p");
    request.set_lost_after_ms(20000);
    id_ = submit(request);
    h0().loseConnection();
    advance(seconds(25));
  }
  FakeHost& h0() { return hosts_.at("h0"); }
  Code forget() { return call<Api>(*core_, &Api::forget, "alice", ref(id_)).code(); }

  std::int64_t id_ = 0;
};

TEST_F(QuarantineTest, ItLastsUntilTheHostIsHeard) {
  EXPECT_EQ(job(id_).end(), v1::END_LOST);
  EXPECT_EQ(partition("p")->state(), v1::PARTITION_QUARANTINE);
  EXPECT_EQ(partition("p")->job(), id_);
  EXPECT_EQ(capacity().free(), 48);
  EXPECT_EQ(forget(), Code::kFailedPrecondition);
  restart();
  EXPECT_EQ(partition("p")->state(), v1::PARTITION_QUARANTINE);
  EXPECT_TRUE(h0().runners.at({id_, 1}).alive);
  join("h0", 100);
  EXPECT_FALSE(h0().runners.at({id_, 1}).alive);
  EXPECT_FALSE(partition("p"));
  EXPECT_EQ(capacity().free(), 64);
  EXPECT_EQ(forget(), Code::kOk);
  checkStore();
}

TEST_F(QuarantineTest, JobsWaitForItsEnd) {
  join("h1", 100);
  const std::int64_t waiting = submit(inPartition("p"));
  EXPECT_NE(job(waiting).reason().find("is held by job"), std::string::npos) << job(waiting).reason();
  join("h0", 100);
  EXPECT_EQ(job(waiting).state(), v1::JOB_RUNNING);
}

TEST_F(QuarantineTest, AnAdminReleasesItWithForce) {
  EXPECT_EQ(releasePartition("p", true, "alice").code(), Code::kPermissionDenied);
  EXPECT_EQ(releasePartition("p", false).code(), Code::kFailedPrecondition);
  EXPECT_TRUE(audit_.empty());
  EXPECT_EQ(releasePartition("p", true).code(), Code::kOk);
  ASSERT_EQ(audit_.size(), 1U);
  EXPECT_NE(audit_[0].find("h0 was switched off"), std::string::npos);
  EXPECT_FALSE(partition("p"));
  checkStore();
  restart();
  join("h0", 100);
  EXPECT_EQ(capacity().free(), 64);
}

TEST_F(QuarantineTest, WhatRunsIsNotReleased) {
  join("h1", 100);
  const std::int64_t running = submit(inPartition("q"));
  EXPECT_EQ(job(running).state(), v1::JOB_RUNNING);
  EXPECT_EQ(releasePartition("q", true).code(), Code::kFailedPrecondition);
  EXPECT_EQ(remove("q", true).code(), Code::kOk);
  EXPECT_EQ(releasePartition("q", true).code(), Code::kFailedPrecondition);
}

class HoldTest : public PodsTest {
 protected:
  HoldTest() {
    join("h0", 100);
    create("p", 16, "alice", 2);
  }
};

TEST_F(HoldTest, TheFirstMessageSaysThatItIsHeld) {
  auto held = hold("p", kToken);
  ASSERT_TRUE(held);
  EXPECT_NE(held->next()->partition().holder().find("poprun 4711 on h7"), std::string::npos);
  EXPECT_FALSE(held->next());
  EXPECT_FALSE(held->ended());
  const std::int64_t waiting = submit(inPartition("p"));
  EXPECT_NE(job(waiting).reason().find("poprun 4711 on h7"), std::string::npos) << job(waiting).reason();
  EXPECT_EQ(remove("p").code(), Code::kFailedPrecondition);
  held = nullptr;
  settle();
  EXPECT_EQ(job(waiting).state(), v1::JOB_RUNNING);
  Status why;
  EXPECT_FALSE(hold("p", kToken, &why));
  EXPECT_EQ(why.code(), Code::kFailedPrecondition);
}

TEST_F(HoldTest, OneHolderAtATime) {
  auto held = hold("p", kToken);
  Status why;
  EXPECT_FALSE(hold("p", "fedcba9876543210", &why));
  EXPECT_EQ(why.code(), Code::kFailedPrecondition);
  EXPECT_FALSE(hold("p", kToken, &why));
  EXPECT_EQ(why.code(), Code::kAlreadyExists);
  EXPECT_FALSE(hold("q", "fedcba9876543210", &why));
  EXPECT_EQ(why.code(), Code::kNotFound);
  EXPECT_FALSE(hold("p", "x", &why));
  EXPECT_EQ(why.code(), Code::kInvalidArgument);
}

TEST_F(HoldTest, ForceEndsTheStream) {
  auto held = hold("p", kToken);
  ASSERT_TRUE(held->next());
  EXPECT_EQ(remove("p", true).code(), Code::kOk);
  ASSERT_TRUE(held->ended());
  EXPECT_EQ(held->ended()->code(), Code::kAborted);
  EXPECT_FALSE(partition("p"));
  create("p", 16);
  auto next = hold("p", "fedcba9876543210");
  held = nullptr;  // says nothing of the new one
  settle();
  EXPECT_NE(partition("p")->holder(), "");
}

TEST_F(HoldTest, OnlyOperatorsTakeItFromAnotherUsersProgram) {
  auto held = hold("p", kToken);
  ASSERT_TRUE(held->next());
  EXPECT_EQ(remove("p", true, "bob").code(), Code::kPermissionDenied);
  EXPECT_FALSE(held->ended());
  EXPECT_EQ(remove("p", true, "root").code(), Code::kOk);
  EXPECT_TRUE(held->ended());
}

TEST_F(HoldTest, OnlyOperatorsTakeItFromAnotherUsersJob) {
  const std::int64_t id = submit(inPartition("p"));
  const auto refused = remove("p", true, "bob");
  EXPECT_EQ(refused.code(), Code::kPermissionDenied);
  EXPECT_NE(refused.words().find("job " + std::to_string(id) + " of user 'alice'"), std::string::npos)
      << refused.words();
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
  EXPECT_EQ(partition("p")->job(), id);
  EXPECT_EQ(remove("p", true, "alice").code(), Code::kOk);
  EXPECT_NE(job(id).state(), v1::JOB_RUNNING);
}

TEST_F(HoldTest, WhatWasMadeForAHolderGoesAWhileAfterIt) {
  auto held = hold("p", kToken, nullptr, true);
  advance(seconds(200));
  ASSERT_TRUE(partition("p"));
  held = nullptr;
  advance(seconds(80));
  ASSERT_TRUE(partition("p"));
  held = hold("p", kToken, nullptr, true);  // it is back
  ASSERT_TRUE(held);
  advance(seconds(200));
  ASSERT_TRUE(partition("p"));
  core_->pods().storeFailed(unavailable("test"));
  held = nullptr;
  restart();
  advance(seconds(100));
  ASSERT_TRUE(partition("p"));  // it was expected for 30 s
  advance(seconds(30));
  EXPECT_FALSE(partition("p"));
  checkStore();
}

TEST_F(HoldTest, WhatAnotherUsesMeanwhileGoesAfterThat) {
  auto held = hold("p", kToken, nullptr, true);
  held = nullptr;
  held = hold("p", "fedcba9876543210");
  advance(seconds(200));
  ASSERT_TRUE(partition("p"));
  held = nullptr;
  advance(seconds(100));
  EXPECT_FALSE(partition("p"));
}

TEST_F(HoldTest, WhatWasThereBeforeStays) {
  auto held = hold("p", kToken);
  held = nullptr;
  advance(seconds(200));
  EXPECT_TRUE(partition("p"));
}

TEST_F(HoldTest, ARestartedDaemonWaitsForItsHolder) {
  auto held = hold("p", kToken);
  core_->pods().storeFailed(unavailable("test"));  // as its end does to streams
  EXPECT_EQ((static_cast<void>(held->next()), held->ended()->code()), Code::kUnavailable);
  held = nullptr;
  restart();
  EXPECT_NE(partition("p")->holder(), "");
  auto again = hold("p", kToken);
  ASSERT_TRUE(again);
  advance(seconds(40));
  EXPECT_NE(partition("p")->holder(), "");
  core_->pods().storeFailed(unavailable("test"));
  again = nullptr;
  restart();
  advance(seconds(25));
  EXPECT_NE(partition("p")->holder(), "");
  advance(seconds(10));
  EXPECT_EQ(partition("p")->holder(), "");
}

}  // namespace
}  // namespace pop::popdistd::testing
