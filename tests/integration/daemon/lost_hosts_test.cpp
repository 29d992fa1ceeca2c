// SPDX-License-Identifier: Apache-2.0
// popdistd and three real hosts: one loses popdistd, another is lost, and both are the first hosts of a job.
#include <algorithm>
#include <filesystem>
#include <map>

#include "common/base/text.h"
#include "tests/integration/daemon/daemon_fixture.h"
#include "tests/testing/test_hosts.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kHosts = 3;

// Before popdistd, whose certificate has our address among them.
struct Hosts {
  TestHosts hosts{kHosts};
};

class LostHosts : private Hosts, public DaemonTest {
 protected:
  LostHosts() : DaemonTest("0.0.0.0", hosts.ownAddress()) {
    startDaemon();
    for (int host = 0; host < kHosts; ++host) join(host);
  }

  void join(int host) {
    const std::string there = hosts.tmp(host) + "/tls";
    std::filesystem::copy(path("tls"), there);
    std::filesystem::copy(path("users"), hosts.tmp(host) + "/users");
    const TestHosts::Output started =
        hosts.run(host, POP_BIN_DIR
                            "/popdist-agent serve --listen 0.0.0.0:7571 --spares 0 --tls /tmp/tls "
                            "--users /tmp/users --state /tmp/state --slots 2 --name " +
                            hosts.name(host) + " --controller " + hosts.ownAddress() + ':' +
                            std::to_string(port()) + " >/tmp/agent.log 2>&1 </dev/null &");
    ASSERT_EQ(started.exit_code, 0) << started.text;
    waitForHost(hosts.name(host));
  }

  // On the first, whose runner it has, and on h1: counts until the file /tmp/go is there.
  std::int64_t submitOn(int first, std::int64_t lost_after_ms) {
    v1::SubmitRequest request =
        shell("i=0; while [ ! -e /tmp/go ]; do i=$((i+1)); echo $i; sleep 0.05; done; echo end", 2);
    for (const int host : {first, 1}) request.mutable_spec()->add_hosts()->set_name(hosts.name(host));
    request.set_lost_after_ms(lost_after_ms);
    const std::int64_t id = submit(request);
    waitForState(id, v1::JOB_RUNNING);
    return id;
  }

  // Instances of jobs there. What a shell forks has its command line until it runs another program.
  std::size_t shellsOn(int host) const {
    const auto is_shell = [](pid_t pid) {
      return fileText("/proc/" + std::to_string(pid) + "/cmdline").find("/tmp/go") != std::string::npos;
    };
    std::size_t count = 0;
    for (const pid_t pid : hosts.processesOn(host))
      count += is_shell(pid) && !is_shell(statOf(pid).value_or(ProcessStat{}).parent);
    return count;
  }

  // Two instances have counted, each to a number of its own.
  static void expectWhole(const std::string& text) {
    std::map<std::string, int> times;
    for (const std::string& line : split(text, '\n')) ++times[line];
    EXPECT_EQ(times["end"], 2);
    int last = 2;
    for (std::size_t i = 1; i + 2 < times.size(); ++i) {
      const int now = times[std::to_string(i)];
      EXPECT_TRUE(now > 0 && now <= last) << i << " is there " << now << " times";
      last = now;
    }
  }

  // Cuts off popdistd alone; neither end is told.
  void cutOffFromPopdistd(int host, bool cut) const {
    const TestHosts::Output done = hosts.run(
        host, std::string("ip route ") + (cut ? "add" : "del") + " blackhole " + hosts.ownAddress() + "/32");
    ASSERT_EQ(done.exit_code, 0) << done.text;
  }

  using Hosts::hosts;
};

TEST_F(LostHosts, OneWithoutPopdistdRunsItsJobAndOneThatIsGoneLosesIt) {
  const std::int64_t cut_off = submitOn(0, 600'000);
  const std::int64_t lost = submitOn(2, 1000);
  ASSERT_TRUE(waitUntil([&] { return shellsOn(0) == 1 && shellsOn(1) == 2 && shellsOn(2) == 1; }, kTimeout));

  cutOffFromPopdistd(0, true);
  hosts.linkDown(2);
  EXPECT_TRUE(waitUntil([&] { return shellsOn(1) == 1 && shellsOn(2) == 0; }, Milliseconds(10'000)))
      << "the hosts of a job whose first is gone end it by themselves";
  const v1::JobInfo ended = waitForEnd(lost);
  EXPECT_EQ(ended.end(), v1::END_LOST) << ended.ShortDebugString();
  EXPECT_THAT(ended.reason(), HasSubstr("h2"));

  ASSERT_TRUE(waitUntil([&] { return job(cut_off).conditions_size() == 1; }, kTimeout));
  EXPECT_THAT(job(cut_off).conditions(0), HasSubstr("h0"));
  EXPECT_EQ(job(cut_off).state(), v1::JOB_RUNNING);
  EXPECT_EQ(shellsOn(0), 1U);
  EXPECT_EQ(shellsOn(1), 1U);

  cutOffFromPopdistd(0, false);
  ASSERT_TRUE(waitUntil([&] { return job(cut_off).conditions().empty(); }, kTimeout));
  for (const int host : {0, 1}) ASSERT_EQ(hosts.run(host, "touch /tmp/go").exit_code, 0);
  EXPECT_EQ(waitForEnd(cut_off).end(), v1::END_SUCCEEDED);
  const Log log = wholeLog(cut_off);
  expectWhole(log.text);
  EXPECT_TRUE(std::is_sorted(log.sequences.begin(), log.sequences.end(), std::less_equal<>()));

  hosts.linkUp(2);
  waitForHost("h2");
  EXPECT_EQ(job(lost).end(), v1::END_LOST);
  EXPECT_EQ(shellsOn(2), 0U);
}

}  // namespace
}  // namespace pop::testing
