// SPDX-License-Identifier: Apache-2.0
// One leads at a time, as a real etcd sees it.
#include "popdistd/leader/leadership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <future>

#include "tests/testing/etcd_server.h"

namespace pop::popdistd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class LeadershipTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Leadership>> take(EtcdClient& etcd, const std::string& address,
                                           Leadership::Lost lost = nullptr, LeaseTimes times = {}) {
    ::popdist::v1::LeaderRecord self;
    self.set_address(address);
    return Leadership::tryToTake(etcd, prefix_, self, std::move(lost), times);
  }
  std::string leader() {
    const auto record = readLeader(etcd_, prefix_, Clock::now() + seconds(5));
    EXPECT_TRUE(record.ok()) << record.status().message();
    return record.ok() && record.value() ? record.value()->address() : "";
  }

  const std::string prefix_ = testing::ownPrefix();
  EtcdClient etcd_{{.addresses = {testing::sharedEtcd().address()}, .tls = {}}};
};

TEST_F(LeadershipTest, IsOnesAloneUntilItIsGivenBack) {
  EXPECT_EQ(leader(), "");
  auto first = take(etcd_, "h0:1");
  ASSERT_TRUE(first.ok()) << first.status().message();
  ASSERT_NE(*first, nullptr);
  EXPECT_EQ(leader(), "h0:1");
  EXPECT_EQ(take(etcd_, "h1:1").value(), nullptr);
  const std::int64_t revision = first.value()->fence().revision;
  first.value().reset();
  EXPECT_EQ(leader(), "");
  auto second = take(etcd_, "h1:1");
  ASSERT_NE(second.value(), nullptr);
  EXPECT_GT(second.value()->fence().revision, revision);
}

TEST_F(LeadershipTest, GoesOnWhileEtcdAnswers) {
  std::promise<Status> lost;
  const auto leadership = take(etcd_, "h0:1", [&](const Status& why) { lost.set_value(why); },
                               {seconds(2), milliseconds(500), milliseconds(100)});
  const Clock::time_point at_first = leadership.value()->heldUntil();
  EXPECT_EQ(lost.get_future().wait_for(milliseconds(2500)), std::future_status::timeout);
  EXPECT_GT(leadership.value()->heldUntil(), at_first + seconds(1));
  EXPECT_EQ(leader(), "h0:1");
}

// Before the lease can end, by the clock of who holds it.
TEST_F(LeadershipTest, IsLostInTimeWhenEtcdIsSilent) {
  testing::EtcdServer server;
  EtcdClient etcd({.addresses = {server.address()}, .tls = {}});
  std::promise<Status> lost;
  const Clock::time_point begun = Clock::now();
  const auto leadership = take(etcd, "h0:1", [&](const Status& why) { lost.set_value(why); },
                               {seconds(2), milliseconds(500), milliseconds(100)});
  ASSERT_TRUE(leadership.ok());
  server.signal(SIGSTOP);
  auto when = lost.get_future();
  ASSERT_EQ(when.wait_for(seconds(10)), std::future_status::ready);
  EXPECT_EQ(when.get().code(), Code::kUnavailable);
  EXPECT_LE(Clock::now(), leadership.value()->heldUntil() + milliseconds(400));
  EXPECT_GE(Clock::now(), begun + seconds(1));
  server.signal(SIGCONT);
}

TEST_F(LeadershipTest, IsLostWhenEtcdHasEndedTheLease) {
  std::promise<Status> lost;
  const auto leadership = take(etcd_, "h0:1", [&](const Status& why) { lost.set_value(why); },
                               {seconds(5), milliseconds(500), milliseconds(100)});
  const EtcdPairs key = etcd_.read({leaderKey(prefix_), {}}, 1, Clock::now() + seconds(5)).value();
  ASSERT_TRUE(etcd_.revokeLease(key.pairs.at(0).lease, Clock::now() + seconds(5)).ok());
  auto when = lost.get_future();
  ASSERT_EQ(when.wait_for(seconds(5)), std::future_status::ready);
  EXPECT_EQ(when.get().code(), Code::kNotFound);
}

TEST_F(LeadershipTest, AServerThatIsGoneIsLeftForTheNext) {
  EtcdClient two({.addresses = {"127.0.0.1:1", testing::sharedEtcd().address()}, .tls = {}});
  const auto leadership = take(two, "h0:1");
  ASSERT_TRUE(leadership.ok()) << leadership.status().message();
  EXPECT_EQ(leader(), "h0:1");
}

TEST_F(LeadershipTest, NoEtcdIsUnavailableAndSaysWhere) {
  EtcdClient none({.addresses = {"127.0.0.1:1"}, .tls = {}});
  const auto leader = readLeader(none, prefix_, Clock::now() + milliseconds(200));
  EXPECT_EQ(leader.code(), Code::kUnavailable);
  EXPECT_THAT(leader.status().message(), ::testing::HasSubstr("127.0.0.1:1"));
}

}  // namespace
}  // namespace pop::popdistd
