// SPDX-License-Identifier: Apache-2.0
// Hosts join a cluster, come back to it, and leave.
#include "common/contract/version.h"
#include "tests/integration/join/join_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(JoinTest, SaysWhatTheHostHas) {
  const auto controller = popdistd();
  serve("h0", *controller);
  const v1::HostJoins said = joins(*controller, "h0");
  EXPECT_EQ(said.name(), "h0");
  EXPECT_EQ(said.protocol(), contract::kHostProtocol);
  EXPECT_EQ(said.version(), contract::kVersion);
  EXPECT_THAT(fileText("/proc/sys/kernel/random/boot_id"),
              ::testing::StartsWith(said.boot_id().substr(0, 36)));
  EXPECT_GT(said.agent_port(), 0);
  EXPECT_GE(said.num_cores(), 1);
  EXPECT_GE(said.num_memory_nodes(), 1);
  EXPECT_GT(said.memory_bytes(), 100'000'000U);
  EXPECT_EQ(said.slots(), 3);
  EXPECT_EQ(said.cluster_id(), "");
  EXPECT_EQ(said.runners_size(), 0);
  EXPECT_GT(said.clock_ms(), 1'600'000'000'000);
  EXPECT_TRUE(waitForLog("h0", "joined the cluster c1 at 127.0.0.1:")) << logOf("h0");
}

TEST_F(JoinTest, SaysAgainAndAgainThatItIsAlive) {
  const auto controller = popdistd({.heartbeat_ms = 50});
  serve("h0", *controller);
  EXPECT_TRUE(waitUntil([&] { return controller->heartbeats() >= 5; }, kTimeout)) << logOf("h0");
}

TEST_F(JoinTest, JoinsByItselfWhenPopdistdComes) {
  int port = 0;
  { port = popdistd()->port(); }
  serve("h0", port, tlsOptions("h0"));
  ASSERT_TRUE(waitForLog("h0", "connection refused: does popdistd run there")) << logOf("h0");
  const auto controller = popdistd({.port = port});
  const auto there = std::chrono::steady_clock::now();
  EXPECT_EQ(joins(*controller, "h0").name(), "h0");
  EXPECT_LT(std::chrono::steady_clock::now() - there, std::chrono::seconds(6)) << "the longest pause is 5 s";
}

// Another has taken over while it was stopped, and has a larger epoch.
TEST_F(JoinTest, RefusesAPopdistdOfThePast) {
  auto controller = popdistd({.epoch = 7});
  const int port = controller->port();
  serve("h0", *controller);
  joins(*controller, "h0");
  ASSERT_TRUE(waitForLog("h0", "joined the cluster")) << logOf("h0");
  controller.reset();
  controller = popdistd({.port = port, .epoch = 6});
  ASSERT_TRUE(waitForLog("h0", "popdistd of the past")) << logOf("h0");
  controller.reset();
  controller = popdistd({.port = port, .cluster = "c2", .epoch = 1});
  ASSERT_TRUE(waitForLog("h0", "joined the cluster c2")) << "another cluster has its own\n" << logOf("h0");
}

TEST_F(JoinTest, GoesToTheNextOfSeveralWhenOneIsGone) {
  const auto second = popdistd({.epoch = 2});
  auto first = popdistd();
  other_controllers_ = ",127.0.0.1:" + std::to_string(second->port());
  serve("h0", *first);
  joins(*first, "h0");
  first.reset();
  EXPECT_EQ(joins(*second, "h0").epoch(), 1u);
}

// Runners from before go on meanwhile.
TEST_F(JoinTest, ComesBackWithItsRunners) {
  auto controller = popdistd();
  serve("h0", *controller);
  joins(*controller, "h0");
  controller->send("h0", startOrder(1));
  const pid_t pid = started(*controller, "h0", 1).pid();
  controller->send("h0", startOrder(2));
  const pid_t other = started(*controller, "h0", 2).pid();
  const int port = controller->port();
  controller.reset();
  ASSERT_TRUE(waitForLog("h0", "lost popdistd at")) << logOf("h0");
  killOne(other);
  ASSERT_TRUE(waitForLog("h0", "runner of job 2.1: was killed")) << logOf("h0");
  controller = popdistd({.port = port});
  const v1::HostJoins again = joins(*controller, "h0");
  EXPECT_EQ(again.cluster_id(), "c1");
  ASSERT_EQ(again.runners_size(), 2);
  EXPECT_EQ(again.runners(0).key().job(), 1);
  EXPECT_TRUE(again.runners(0).alive());
  EXPECT_FALSE(again.runners(1).alive());
  controller->send("h0", startOrder(1));
  EXPECT_EQ(started(*controller, "h0", 1).pid(), pid);
}

TEST_F(JoinTest, ComesBackAfterItsRelayWasKilled) {
  const auto controller = popdistd();
  serve("h0", *controller);
  joins(*controller, "h0");
  ASSERT_TRUE(waitForLog("h0", "joined the cluster")) << logOf("h0");
  ASSERT_GT(joinOf("h0"), 0);
  killOne(joinOf("h0"));
  EXPECT_EQ(joins(*controller, "h0").cluster_id(), "c1");
}

TEST_F(JoinTest, IsInAnotherClusterWithoutTheRunnersOfTheFirst) {
  auto controller = popdistd();
  serve("h0", *controller);
  joins(*controller, "h0");
  controller->send("h0", startOrder(1));
  const pid_t pid = started(*controller, "h0", 1).pid();
  const int port = controller->port();
  controller.reset();
  controller = popdistd({.port = port, .cluster = "c2"});
  EXPECT_EQ(joins(*controller, "h0").cluster_id(), "c1");
  controller->send("h0", startOrder(1));
  const pid_t other = started(*controller, "h0", 1).pid();
  EXPECT_NE(other, pid);
  EXPECT_TRUE(statOf(pid).has_value()) << "it goes on";
  controller.reset();
  controller = popdistd({.port = port, .cluster = "c2"});
  const v1::HostJoins again = joins(*controller, "h0");
  EXPECT_EQ(again.cluster_id(), "c2");
  EXPECT_EQ(again.runners_size(), 1);
}

TEST_F(JoinTest, ManyHostsJoinOnePopdistd) {
  const auto controller = popdistd();
  for (const char* host : {"h0", "h1"}) serve(host, *controller);
  for (const char* host : {"h0", "h1"}) {
    joins(*controller, host);
    controller->send(host, startOrder(1));
    EXPECT_GT(started(*controller, host, 1).pid(), 0);
  }
}

// The relay speaks HTTP/2, which the whole network could attack.
TEST_F(JoinTest, RelaysWithoutRootsPowers) {
  const auto controller = popdistd();
  serve("h0", *controller);
  joins(*controller, "h0");
  const std::string status = fileText("/proc/" + std::to_string(joinOf("h0")) + "/status");
  EXPECT_THAT(status, HasSubstr("CapEff:\t0000000000000000"));
  EXPECT_THAT(status, HasSubstr("Uid:\t" + output("id -u " + unixUser())));
}

TEST_F(JoinTest, RelaysAsAUserOfItsOwnWhereThereIsOne) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root's services run anything as others";
  std::ofstream(path("passwd")) << fileText("/etc/passwd") << "popdist-join:x:64123:65534::/:/bin/false\n";
  const auto controller = popdistd();
  serve("h0", controller->port(), tlsOptions("h0"),
        "unshare -m sh -c 'mount --bind " + path("passwd") + " /etc/passwd && exec \"$@\"' sh ");
  joins(*controller, "h0");
  EXPECT_THAT(fileText("/proc/" + std::to_string(joinOf("h0")) + "/status"),
              HasSubstr("Uid:\t64123\t64123\t64123"));
  EXPECT_EQ(logOf("h0").find("no system user"), std::string::npos);
}

TEST_F(JoinTest, EndsItsRunnersAndItsRelayWhenItIsStopped) {
  const auto controller = popdistd();
  serve("h0", *controller);
  joins(*controller, "h0");
  controller->send("h0", startOrder(1));
  const pid_t pid = started(*controller, "h0", 1).pid();
  const pid_t relay = joinOf("h0");
  signal("h0", SIGTERM);
  EXPECT_EQ(gone(*controller, "h0", 1), "ended with exit code 4") << "it was asked to stop";
  EXPECT_TRUE(hasEnded("h0"));
  for (const pid_t each : {pid, relay})
    EXPECT_TRUE(waitUntil([&] { return !statOf(each); }, kTimeout)) << each;
}

TEST_F(JoinTest, TakesItsRunnersWithItWhenItIsKilled) {
  const auto controller = popdistd();
  serve("h0", *controller);
  joins(*controller, "h0");
  controller->send("h0", startOrder(1));
  const pid_t pid = started(*controller, "h0", 1).pid();
  signal("h0", SIGKILL);
  EXPECT_TRUE(waitUntil(
      [&] {
        const auto stat = statOf(pid);
        return !stat || stat->state == 'Z';
      },
      kTimeout));
  EXPECT_TRUE(hasEnded("h0"));
  serve("h0", *controller);
  const v1::HostJoins again = joins(*controller, "h0");
  ASSERT_EQ(again.runners_size(), 1);
  EXPECT_FALSE(again.runners(0).alive());
}

}  // namespace
}  // namespace pop::testing
