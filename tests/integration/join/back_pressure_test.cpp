// SPDX-License-Identifier: Apache-2.0
// Runners that have more to say than popdistd takes.
#include "tests/integration/join/join_fixture.h"

namespace pop::testing {
namespace {

constexpr std::int64_t kBytes = 100 << 20;
// The most that the service and popdist-join may keep in all: 4 MiB each, and gRPC's data under way.
constexpr long kMaxGrowthKb = 32 << 10;

TEST_F(JoinTest, KeepsLittleForPopdistdThatDoesNotRead) {
  const auto controller = popdistd();
  serve("h0", *controller);
  joins(*controller, "h0");
  controller->send("h0", startOrder(1));
  started(*controller, "h0", 1);
  const long service_kb = residentKb(pidOf("h0"));
  const long relay_kb = residentKb(joinOf("h0"));
  ASSERT_GT(service_kb, 0);
  ASSERT_GT(relay_kb, 0);
  controller->stopReading(true);
  controller->send("h0", follow(1, kBytes));
  long most_service_kb = 0;
  long most_relay_kb = 0;
  const auto look = [&] {
    most_service_kb = std::max(most_service_kb, residentKb(pidOf("h0")));
    most_relay_kb = std::max(most_relay_kb, residentKb(joinOf("h0")));
    return false;
  };
  waitUntil(look, Milliseconds(2000));  // ample time for all of it
  EXPECT_LT(controller->bytesRead(), static_cast<std::size_t>(kBytes) / 2);
  controller->stopReading(false);
  EXPECT_TRUE(waitUntil(
      [&] {
        look();
        return controller->bytesRead() == static_cast<std::size_t>(kBytes);
      },
      kTimeout))
      << controller->bytesRead();
  EXPECT_LT(most_service_kb - service_kb, kMaxGrowthKb);
  EXPECT_LT(most_relay_kb - relay_kb, kMaxGrowthKb);
  RecordProperty("service_growth_kb", std::to_string(most_service_kb - service_kb));
  RecordProperty("relay_growth_kb", std::to_string(most_relay_kb - relay_kb));
}

// They were waiting when the stream was lost.
TEST_F(JoinTest, LetsRunnersGoOnWhenPopdistdIsGone) {
  auto controller = popdistd();
  serve("h0", *controller);
  joins(*controller, "h0");
  controller->send("h0", startOrder(1));
  started(*controller, "h0", 1);
  controller->stopReading(true);
  controller->send("h0", follow(1, kBytes));
  ASSERT_TRUE(waitUntil([&] { return residentKb(pidOf("h0")) > (4 << 10); }, kTimeout));
  const int port = controller->port();
  controller.reset();
  controller = popdistd({.port = port});
  joins(*controller, "h0");
  v1::RunnerOrder order;
  order.mutable_stop()->set_number(1);
  order.mutable_stop()->set_signal(SIGTERM);
  controller->send("h0", orderOf(1, order));
  EXPECT_EQ(gone(*controller, "h0", 1), "ended with exit code 4");
}

}  // namespace
}  // namespace pop::testing
