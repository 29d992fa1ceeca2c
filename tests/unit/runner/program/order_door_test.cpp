// SPDX-License-Identifier: Apache-2.0
// The lifetimes and answers of a runner and a feeder, over a real socket.
#include "runner/program/order_door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "common/sys/unix_socket.h"
#include "runner/program/feeder.h"
#include "runner/store/record_store.h"
#include "tests/testing/run_until.h"
#include "tests/testing/temp_dir.h"

namespace pop::runner {
namespace {

using ::testing::ElementsAre;
using testing::runIdle;
using testing::runUntil;

namespace v1 = ::popdist::v1;

constexpr std::chrono::milliseconds kForLong = std::chrono::minutes(10);
constexpr std::chrono::milliseconds kShort{20};

v1::RunnerOrder followAll() {
  v1::RunnerOrder order;
  order.mutable_follow()->set_stream(1);
  order.mutable_follow()->set_credit_bytes(1 << 20);
  return order;
}
v1::RunnerOrder retire() {
  v1::RunnerOrder order;
  order.mutable_retire();
  return order;
}

class OrderDoorTest : public ::testing::Test {
 protected:
  OrderDoorTest() {
    for (const sys::Fd* end : {&ends_.first, &ends_.second})
      EXPECT_TRUE(sys::setNonBlocking(end->get()).ok());
    stdio_.out = sys::Fd(::dup(ends_.second.get()));
    stdio_.in = std::move(ends_.second);
    service_ = std::make_unique<wire::MessageStream>(
        loop_, std::move(ends_.first), sys::Fd(),
        wire::MessageStream::Events{.message =
                                        [this](const std::string& message) {
                                          EXPECT_TRUE(reports_.emplace_back().ParseFromString(message));
                                        },
                                    .ended = [](const Status&) {}});
  }

  std::unique_ptr<OrderDoor> door(std::chrono::milliseconds silence) {
    return std::make_unique<OrderDoor>(
        loop_, std::move(stdio_), directory_.path(),
        DoorEvents{.stop = [this](int signal) { stops_.push_back(signal); },
                   .signal = [this](int signal) { signals_.push_back(signal); }},
        silence);
  }
  std::unique_ptr<Feeder> feeder(std::chrono::milliseconds idle) {
    return std::make_unique<Feeder>(
        loop_, std::move(stdio_), directory_.path(), 1, [this] { left_ = true; }, idle);
  }
  std::function<void()> leave() {
    return [this] { left_ = true; };
  }

  testing::TempDir directory_;
  RecordWriter writer_ = RecordWriter::open(directory_.path()).value();
  os::EpollLoop loop_;
  std::pair<sys::Fd, sys::Fd> ends_ = sys::socketPair().value();
  sys::Stdio stdio_;
  std::unique_ptr<wire::MessageStream> service_;
  std::vector<v1::RunnerReport> reports_;
  std::vector<int> stops_, signals_;
  bool left_ = false;
};

TEST_F(OrderDoorTest, PassesEachStopOnOnceAndSignalsAsOftenAsTheyCome) {
  const auto open = door(kForLong);
  open->begun(7);
  v1::RunnerOrder order;
  order.mutable_stop()->set_number(1);
  order.mutable_stop()->set_signal(SIGTERM);
  service_->send(order);
  service_->send(order);
  order.set_signal(SIGUSR1);
  service_->send(order);
  order.set_signal(NSIG);
  service_->send(order);
  service_->send("no order");
  order.mutable_stop()->set_number(2);
  order.mutable_stop()->set_signal(SIGINT);
  service_->send(order);
  runUntil(loop_, [this] { return stops_.size() == 2; });
  EXPECT_EQ(reports_[0].up().last_sequence(), 7u);
  EXPECT_FALSE(reports_[0].up().is_feeder());
  EXPECT_THAT(stops_, ElementsAre(SIGTERM, SIGINT));
  EXPECT_THAT(signals_, ElementsAre(SIGUSR1));
}

TEST_F(OrderDoorTest, IsLeftByARetiredRunnerWhenTheJobIsOver) {
  const auto open = door(kForLong);
  service_->send(retire());
  runIdle(loop_);
  EXPECT_FALSE(left_) << "the job runs";
  open->ended(leave());
  EXPECT_TRUE(left_);
}

TEST_F(OrderDoorTest, StaysAfterTheJobUntilItIsRetired) {
  const auto open = door(kForLong);
  open->ended(leave());
  service_->send(followAll());
  runUntil(loop_, [this] { return reports_.size() == 1; });
  EXPECT_TRUE(reports_[0].has_end());
  EXPECT_FALSE(left_);
  service_->send(retire());
  runUntil(loop_, [this] { return left_; });
}

TEST_F(OrderDoorTest, IsLeftWithTheService) {
  const auto open = door(kForLong);
  open->ended(leave());
  service_.reset();
  runUntil(loop_, [this] { return left_; });
}

TEST_F(OrderDoorTest, OutlivesTheServiceWhileTheJobRuns) {
  const auto open = door(kForLong);
  service_.reset();
  runIdle(loop_);
  EXPECT_FALSE(left_);
  open->ended(leave());
  EXPECT_TRUE(left_);
}

TEST_F(OrderDoorTest, IsLeftWhenTheServiceIsSilent) {
  const auto open = door(kShort);
  service_->send(followAll());
  runIdle(loop_);
  EXPECT_FALSE(left_) << "the job runs";
  open->ended(leave());
  runUntil(loop_, [this] { return left_; });
}

TEST_F(OrderDoorTest, OfAFeederIsLeftWhenNobodyFollows) {
  ASSERT_TRUE(writer_.append(RecordKind::kEvent, "begun").ok());
  const auto feeds = feeder(kShort);
  v1::RunnerOrder order = followAll();
  order.mutable_follow()->set_credit_bytes(0);
  service_->send(order);
  runUntil(loop_, [this] { return reports_.size() == 1; });
  EXPECT_TRUE(reports_[0].up().is_feeder());
  EXPECT_EQ(reports_[0].up().last_sequence(), 1u);
  const auto until = Clock::now() + 3 * kShort;
  runUntil(loop_, [&] { return Clock::now() > until; });
  EXPECT_FALSE(left_) << "one follows, though without credit";
  order.mutable_credit()->set_stream(1);
  order.mutable_credit()->set_bytes(1000);
  service_->send(order);
  runUntil(loop_, [this] { return left_; });
  ASSERT_EQ(reports_.size(), 3u);
  EXPECT_EQ(reports_[1].records().records(0).bytes(), "begun");
  EXPECT_TRUE(reports_[2].has_end());
}

TEST_F(OrderDoorTest, OfAFeederIsLeftWhenItIsRetired) {
  const auto feeds = feeder(kForLong);
  service_->send(retire());
  runUntil(loop_, [this] { return left_; });
}

}  // namespace
}  // namespace pop::runner
