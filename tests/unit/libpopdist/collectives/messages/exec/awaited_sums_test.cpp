// SPDX-License-Identifier: Apache-2.0
// Sums of the same elements are made in order: one that has arrived early waits for another, and its rank,
// which may be done and elsewhere, is not waited for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "libpopdist/collectives/plan/steps.h"
#include "tests/unit/libpopdist/collectives/messages/exec/shm_call.h"

namespace popdist::exec {
namespace {

using plan::Buffer;
using ::testing::Each;
using ::testing::ElementsAre;

/// Says which ranks a long wait was for; the late one comes then.
class Observer final : public PeerMonitor {
 public:
  explicit Observer(std::function<void()> late_one_comes) : late_one_comes_(std::move(late_one_comes)) {}

  bool anyEnded() override { return false; }
  std::optional<PeerLoss> loss(std::span<const int>) override { return std::nullopt; }
  std::optional<PeerLoss> elsewhere(std::span<const int> awaited) override {
    if (seen.empty()) {
      seen.assign(awaited.begin(), awaited.end());
      late_one_comes_();
    }
    return std::nullopt;
  }

  std::vector<int> seen;

 private:
  const std::function<void()> late_one_comes_;
};

class AwaitedSums : public ::testing::Test {
 protected:
  static constexpr std::size_t kCount = 8;

  Failure run(int rank, plan::Plan plan, float* values, PeerMonitor& monitor) {
    RankWork work{rank, &plan, values, values, &world.endpoint(rank)};
    return execute({.key = {.operation = plan::Operation::kAllReduce, .type = Type::kFloat}, .count = kCount},
                   std::span(&work, 1),
                   {.sleeper = &world.sleeperOf(rank),
                    .monitor = &monitor,
                    .deadline = pop::sys::AwakeClock::now() + std::chrono::seconds(20)});
  }
  void sendFrom(int rank) {
    std::vector<float> values(kCount, static_cast<float>(rank));
    Immortals immortals;
    const plan::Plan plan{.steps = {plan::sendStep(0, 0, {Buffer::kInput, 0}, kCount)}};
    EXPECT_TRUE(run(rank, plan, values.data(), immortals).status.ok());
  }

  transport::ShmWorld world = transport::ShmWorld::oneRankEach(3);
};

TEST_F(AwaitedSums, AreOfThoseWhoseTurnItIs) {
  const plan::Slice own{Buffer::kOutput, 0};
  const plan::Plan both{.steps = {plan::recvReduceStep(0, 1, own, own, kCount, {}),
                                  plan::recvReduceStep(0, 2, own, own, kCount, {})}};
  std::vector<float> values(kCount, 10.0F);
  sendFrom(2);
  Observer monitor([&] { sendFrom(1); });
  EXPECT_TRUE(run(0, both, values.data(), monitor).status.ok());
  EXPECT_THAT(monitor.seen, ElementsAre(1));
  EXPECT_THAT(values, Each(13.0F));
}

}  // namespace
}  // namespace popdist::exec
