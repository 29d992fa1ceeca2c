// SPDX-License-Identifier: Apache-2.0
// A peer sends all that it owes and dies, at the one moment at which that is hard to notice: after its
// receiver has found nothing to do, before it asks who still lives.
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "tests/unit/libpopdist/collectives/messages/exec/shm_call.h"

namespace popdist::exec {
namespace {

/// Rank 0 does `last_act` when anybody asks, and has ended from then on.
class DiesWhenAskedAfter final : public PeerMonitor {
 public:
  explicit DiesWhenAskedAfter(std::function<void()> last_act) : last_act_(std::move(last_act)) {}

  bool anyEnded() override {
    if (last_act_) std::exchange(last_act_, {})();
    return true;
  }
  std::optional<PeerLoss> loss(std::span<const int> awaited) override {
    awaited_.assign(awaited.begin(), awaited.end());
    return PeerLoss{5, "instance 5 has ended"};
  }

  const std::vector<int>& awaited() const { return awaited_; }

 private:
  std::function<void()> last_act_;
  std::vector<int> awaited_;
};

const Request kLastBroadcast{
    .operation = plan::Operation::kBroadcast, .type = Type::kInt32, .count = 1000, .root = 0};

TEST(LastMessage, StillCounts) {
  transport::ShmWorld world = transport::ShmWorld::oneRankEach(2);
  std::vector<std::int32_t> sent(1000, 7);
  std::vector<std::int32_t> received(1000);
  DiesWhenAskedAfter monitor([&] {
    EXPECT_TRUE(call(world, kLastBroadcast, {{0, nullptr, sent.data()}}).status.ok());
  });
  Request receive = kLastBroadcast;
  receive.monitor = &monitor;
  const Failure failure = call(world, receive, {{1, nullptr, received.data()}});
  EXPECT_TRUE(failure.status.ok()) << failure.status.message();
  EXPECT_EQ(received, sent);
}

TEST(LastMessage, ThatNeverCameIsTheEndOfTheCall) {
  transport::ShmWorld world = transport::ShmWorld::oneRankEach(2);
  std::vector<std::int32_t> received(1000);
  DiesWhenAskedAfter monitor([] {});
  Request receive = kLastBroadcast;
  receive.monitor = &monitor;
  const Failure failure = call(world, receive, {{1, nullptr, received.data()}});
  EXPECT_EQ(failure.status, pop::unavailable("instance 5 has ended"));
  EXPECT_EQ(failure.peer_instance, 5);
  EXPECT_EQ(monitor.awaited(), std::vector{0});
}

}  // namespace
}  // namespace popdist::exec
