// SPDX-License-Identifier: Apache-2.0
// Over a network the news of a peer's end may come before what it has sent: who has left well has sent all
// that it owed, and its connection ends behind that.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/unit/libpopdist/collectives/messages/exec/shm_call.h"
#include "tests/unit/libpopdist/collectives/messages/transport/tcp/tcp_world.h"

namespace popdist::exec {
namespace {

using std::chrono::milliseconds;

/// Rank 0 has ended, which is known from the start; `arrives` when that is asked for the tenth time.
class KnowsEarly final : public PeerMonitor {
 public:
  KnowsEarly(bool clean, std::function<void()> arrives) : clean_(clean), arrives_(std::move(arrives)) {}

  bool anyEnded() override {
    if (++asked_ == kTurns) arrives_();
    return true;
  }
  std::optional<PeerLoss> loss(std::span<const int> awaited) override {
    if (clean_ && awaited.empty()) return std::nullopt;
    return PeerLoss{0, "instance 0 has ended"};
  }
  int asked() const { return asked_; }

  static constexpr int kTurns = 10;

 private:
  const bool clean_;
  const std::function<void()> arrives_;
  int asked_ = 0;
};

/// Two ranks, connected; rank 1 waits for what rank 0 broadcasts.
class LateMessage : public ::testing::Test {
 protected:
  Failure receive(KnowsEarly& monitor, milliseconds timeout = milliseconds(20'000)) {
    Request request = broadcast();
    request.monitor = &monitor;
    request.timeout = timeout;
    return call(world, request, {{1, nullptr, received.data()}});
  }
  void send() { EXPECT_TRUE(call(world, broadcast(), {{0, nullptr, sent.data()}}).status.ok()); }
  void connect() {
    while (!world.connection(1, 0).isUp()) world.groupOf(0).callAll(milliseconds(1));
  }
  Request broadcast() const {
    return {.operation = plan::Operation::kBroadcast, .type = Type::kInt32, .count = sent.size(), .root = 0};
  }

  transport::TcpWorld world{2};
  std::vector<std::int32_t> sent = std::vector<std::int32_t>(1000, 7);
  std::vector<std::int32_t> received = std::vector<std::int32_t>(1000);
};

TEST_F(LateMessage, OfOneThatHasLeftWellCounts) {
  connect();
  KnowsEarly monitor(true, [&] {
    send();
    world.end(0);
  });
  const Failure failure = receive(monitor);
  EXPECT_TRUE(failure.status.ok()) << failure.status.message();
  EXPECT_EQ(received, sent);
}

TEST_F(LateMessage, ThatNeverComesIsMissedWhenTheConnectionEnds) {
  connect();
  KnowsEarly monitor(true, [&] { world.end(0); });
  EXPECT_EQ(receive(monitor).status, pop::unavailable("instance 0 has ended"));
  EXPECT_GE(monitor.asked(), KnowsEarly::kTurns);
}

TEST_F(LateMessage, ThatNeverComesIsMissedAtTheDeadlineWhereTheConnectionDoesNotEnd) {
  connect();
  KnowsEarly monitor(true, [] {});
  EXPECT_EQ(receive(monitor, milliseconds(50)).status.code(), pop::Code::kDeadlineExceeded);
}

TEST_F(LateMessage, IsNotExpectedForLongWhereNothingComes) {
  connect();
  KnowsEarly monitor(true, [] {});
  EXPECT_EQ(receive(monitor, milliseconds(60'000)).status, pop::unavailable("instance 0 has ended"));
  EXPECT_GE(monitor.asked(), KnowsEarly::kTurns);
}

TEST_F(LateMessage, IsNotExpectedFromOneThatHasFailed) {
  connect();
  KnowsEarly monitor(false, [] {});
  EXPECT_EQ(receive(monitor).status, pop::unavailable("instance 0 has ended"));
  EXPECT_EQ(monitor.asked(), 1);
}

TEST_F(LateMessage, IsNotExpectedWithoutAConnection) {
  KnowsEarly monitor(true, [] {});
  EXPECT_EQ(receive(monitor).status, pop::unavailable("instance 0 has ended"));
  EXPECT_EQ(monitor.asked(), 1);
}

}  // namespace
}  // namespace popdist::exec
