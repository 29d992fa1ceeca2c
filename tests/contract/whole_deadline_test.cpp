// SPDX-License-Identifier: Apache-2.0
// Calls in which the ranks wait for each other more than once: the time of the call is that of all waits
// together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/contract/closed_pages.h"
#include "tests/contract/ways.h"
#include "tests/contract/wrong_calls.h"

namespace popdist::contract {
namespace {

using testing::ThreadGroup;

constexpr Milliseconds kTimeout{4'000};
constexpr std::size_t kCount = 4096;

class WholeDeadline : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  // Between two ranks, each of which sends something to the other.
  static void carryOut(Communicator& world, const void* in, Milliseconds timeout) {
    std::vector<std::byte> out(2 * kCount);
    const CallOptions options{.timeout = timeout};
    const int other = 1 - world.rank();
    const std::vector<std::size_t> counts{kCount, kCount};
    if (std::get<1>(GetParam()) == "allToAll")
      return world.allToAll(in, counts, out.data(), counts, Type::kUint8, options);
    world.sendRecv(in, kCount, other, out.data(), kCount, other, Type::kUint8, options);
  }
};

// The other one comes late to where they compare what they want, and not at all to where they get it.
TEST_P(WholeDeadline, IsThatOfAllWaitsOfTheCall) {
  const Way& way = wayNamed(std::get<0>(GetParam()));
  const WayTaken taken(way);
  ThreadGroup group(shapeOf(way, 2));
  std::atomic<Clock::time_point> begin;
  std::latch begun(1);
  group.run([&](Context& context) {
    Communicator& world = context.world();
    std::vector<std::byte> in(4 * kCount);  // private: no other rank stands still there
    if (world.rank() == 0) {
      begin = Clock::now();
      begun.count_down();
      const Reported report = reportOf([&] { carryOut(world, in.data(), kTimeout); });
      EXPECT_LT(Clock::now() - begin.load(), kTimeout + kTimeout / 2);
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kDeadlineExceeded)) << report.what;
      ClosedPages::open();
    } else {
      const ClosedPages closed(ClosedPages::firstIn(in.data()), kCount);
      begun.wait();
      while (Clock::now() < begin.load() + kTimeout * 3 / 4) std::this_thread::yield();
      reportOf([&] { carryOut(world, ClosedPages::firstIn(in.data()), kLongTimeout); });
    }
    context.fence();
  });
}

INSTANTIATE_TEST_SUITE_P(Calls, WholeDeadline,
                         ::testing::Values(std::tuple("table", "allToAll"),
                                           std::tuple("messages", "allToAll"),
                                           std::tuple("messages", "sendRecv")),
                         [](const auto& tested) {
                           return std::get<1>(tested.param) + "By" + std::get<0>(tested.param);
                         });

}  // namespace
}  // namespace popdist::contract
