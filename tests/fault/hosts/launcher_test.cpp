// SPDX-License-Identifier: Apache-2.0
// Something happens to the launcher of a job over hosts, or its user has had enough.
#include "common/sys/own_program.h"
#include "tests/fault/hosts/faults_fixture.h"

namespace pop::testing {
namespace {

class HostsLauncher : public HostFaults {};

TEST_F(HostsLauncher, KilledLeavesNothingAnywhere) {
  PoprunProcess poprun(waitingJob());
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  const auto cause = Clock::now();
  poprun.signal(SIGKILL);
  EXPECT_EQ(leftOnHosts(restOfLimit(cause)), "");
  EXPECT_EQ(endAfter(cause, poprun), -SIGKILL);
  EXPECT_TRUE(poprun.goneWithin(kTimeout));
}

TEST_F(HostsLauncher, CutOffLosesItsHostsAndTheyTheirJob) {
  PoprunProcess poprun(jobFrom(0, "h1,h2", {"-n", "2", "--host-silence", kShortSilence}, {"wait"}));
  ASSERT_EQ(poprun.waitReady(2).size(), 2U);
  const auto cause = Clock::now();
  hosts.linkDown(0);
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun),
            "poprun: hosts h1 and h2 were lost: nothing was received for 2 s (--host-silence)\n");
  expectCleanBehindCutLink({1, 2, 0}, cause);
}

TEST_F(HostsLauncher, StoppedForTooLongHasNoJobAnyMore) {
  PoprunProcess poprun(waitingJob({"--host-silence", kShortSilence}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  poprun.signal(SIGSTOP);
  for (int host = 0; host < 3; ++host) {
    EXPECT_TRUE(waitUntil([&] { return named(host, "pop_test_child").empty(); }, kEndLimit));
    // Their last words have come before poprun hears again.
    EXPECT_TRUE(
        waitUntil([&] { return agents(host).empty() && named(host, "pop-keeper").empty(); }, kEndLimit));
  }
  const auto cause = Clock::now();
  poprun.signal(SIGCONT);
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun),
            "poprun: hosts h0, h1 and h2 were lost: poprun did not run for over 2 s (was it stopped?); an "
            "agent that receives nothing for that long ends its job (--host-silence)\n");
  EXPECT_EQ(leftOnHosts(), "");
}

// A paused machine looks so: no peer was silent, only late.
TEST_F(HostsLauncher, StandingStillTogetherWithItsHostsLosesNone) {
  PoprunProcess poprun(waitingJob({"--host-silence", kShortSilence}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  std::vector<pid_t> others;
  for (int host = 0; host < 3; ++host) {
    for (const pid_t pid : hosts.processesOn(host)) others.push_back(pid);
  }
  const auto state = [&] { return statOf(poprun.pid()).value_or(ProcessStat{}).state; };
  poprun.signal(SIGSTOP);
  send(SIGSTOP, others);
  EXPECT_FALSE(poprun.waitFor([&] { return poprun.ended(); }, Milliseconds(3500)))
      << "longer than the silence";
  poprun.signal(SIGCONT);
  EXPECT_TRUE(waitUntil([&] { return state() == 'S'; }, kTimeout)) << "its timers were due";
  send(SIGCONT, others);
  EXPECT_FALSE(poprun.waitFor([&] { return poprun.ended(); }, Milliseconds(3500))) << said(poprun);
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
  EXPECT_EQ(said(poprun), "");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(HostsLauncher, StoppedByCtrlZStopsTheInstancesAndGoesOnWithThem) {
  PoprunProcess poprun(waitingJob({"--host-silence", kShortSilence}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  const std::vector<pid_t> instance = named(2, "pop_test_child");
  ASSERT_EQ(instance.size(), 1U);
  poprun.signal(SIGTSTP);
  ASSERT_TRUE(waitUntil([&] { return statOf(poprun.pid()).value_or(ProcessStat{}).state == 'T'; }, kTimeout));
  for (int host = 0; host < 3; ++host) {
    for (const pid_t pid : named(host, "pop_test_child"))
      EXPECT_TRUE(waitUntil([&] { return statOf(pid).value_or(ProcessStat{}).state == 'T'; }, kTimeout));
  }
  // Longer than the silence: an agent that had counted would have ended its job.
  EXPECT_FALSE(waitUntil([&] { return named(2, "pop_test_child").empty(); }, Milliseconds(3500)));
  const auto cause = Clock::now();
  poprun.signal(SIGCONT);
  for (const pid_t pid : instance)
    EXPECT_TRUE(waitUntil([&] { return statOf(pid).value_or(ProcessStat{}).state == 'S'; }, kTimeout));
  poprun.signal(SIGINT);
  EXPECT_EQ(endAfter(cause, poprun), 130);
  EXPECT_EQ(said(poprun), "");
  EXPECT_EQ(leftOnHosts(), "");
}

// While an agent is waited for that says nothing.
TEST_F(HostsLauncher, IsNotStoppedByACtrlZThatIsTakenBack) {
  PoprunProcess poprun(waitingJob());
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  const std::vector<pid_t> instance = named(2, "pop_test_child");
  ASSERT_EQ(instance.size(), 1U);
  const auto state = [](pid_t pid) { return statOf(pid).value_or(ProcessStat{}).state; };
  const std::vector<pid_t> silent = agents(1);
  send(SIGSTOP, silent);
  poprun.signal(SIGTSTP);
  EXPECT_TRUE(waitUntil([&] { return state(instance[0]) == 'T'; }, kTimeout));
  poprun.signal(SIGCONT);
  EXPECT_TRUE(waitUntil([&] { return state(instance[0]) == 'S'; }, kTimeout));
  EXPECT_FALSE(waitUntil([&] { return state(poprun.pid()) == 'T'; }, Milliseconds(1500)))
      << "longer than an agent is waited for";
  send(SIGCONT, silent);
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
  EXPECT_EQ(said(poprun), "");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(HostsLauncher, StoppedByCtrlZStopsTheGraceOfTheInstances) {
  PoprunProcess poprun(job({"-n", "3", "--kill-grace", "2", "-v"}, {"ignore-term"}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  const std::vector<pid_t> instance = named(2, "pop_test_child");
  ASSERT_EQ(instance.size(), 1U);
  const auto state = [](pid_t pid) { return statOf(pid).value_or(ProcessStat{}).state; };
  poprun.signal(SIGINT);
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.err().find("job is stopping") != std::string::npos; }));
  poprun.signal(SIGTSTP);
  ASSERT_TRUE(waitUntil([&] { return state(poprun.pid()) == 'T' && state(instance[0]) == 'T'; }, kTimeout));
  EXPECT_FALSE(waitUntil([&] { return state(instance[0]) != 'T'; }, Milliseconds(3500)))
      << "longer than the grace";
  const auto cause = Clock::now();
  poprun.signal(SIGCONT);
  EXPECT_EQ(endAfter(cause, poprun), 130);
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(HostsLauncher, InterruptedTwiceKillsAtOnce) {
  PoprunProcess poprun(job({"-n", "3", "--kill-grace", "60"}, {"ignore-term"}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  poprun.signal(SIGINT);
  EXPECT_FALSE(poprun.waitFor([&] { return poprun.ended(); }, Milliseconds(300)));
  EXPECT_EQ(poprun.interruptUntilEnd(), 130);
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(HostsLauncher, InterruptedTwiceEndsThoughAHostSaysNothing) {
  PoprunProcess poprun(waitingJob({"--host-silence", "3600"}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  send(SIGSTOP, agents(1));
  const auto cause = Clock::now();
  EXPECT_EQ(poprun.interruptUntilEnd(), 130);
  EXPECT_LE(since(cause), kEndLimit);
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(HostsLauncher, TimeLimitEndsTheJobEverywhere) {
  PoprunProcess poprun(waitingJob({"--timeout", "5"}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  const auto cause = Clock::now();
  EXPECT_EQ(endAfter(cause, poprun), 124);
  EXPECT_EQ(said(poprun), "poprun: the job did not end within 5 s (--timeout); all instances were stopped\n");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(HostsLauncher, ReaderThatGoesAwayEndsTheJobEverywhere) {
  PoprunProcess poprun(job({"-n", "3"}, {"flood"}));
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.out().size() > 1'000'000; }));
  const auto cause = Clock::now();
  poprun.closeOutput();
  EXPECT_EQ(endAfter(cause, poprun), 141);
  EXPECT_EQ(leftOnHosts(), "");
}

// A value of a file of /proc: "VmHWM" of status, "wchar" of io.
long valueIn(pid_t pid, const std::string& file, const std::string& name) {
  const Result<std::string> text = sys::readFile("/proc/" + std::to_string(pid) + '/' + file);
  const std::size_t at = text.ok() ? text.value().find(name + ':') : std::string::npos;
  return at == std::string::npos ? 0 : std::stol(text.value().substr(at + name.size() + 1));
}

TEST_F(HostsLauncher, ReaderThatDoesNotReadHoldsBackInstancesNotMemory) {
  PoprunProcess poprun(job({"-n", "3"}, {"flood"}));
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.out().size() > 1'000'000; }));
  poprun.pauseReading();
  std::vector<pid_t> measured{poprun.pid()};
  for (int host = 0; host < 3; ++host) {
    const std::vector<pid_t> instance = named(host, "pop_test_child");
    ASSERT_EQ(instance.size(), 1U);
    const auto written = [&] { return valueIn(instance[0], "io", "wchar"); };
    EXPECT_TRUE(waitUntil(
        [&] {
          const long before = written();
          return !waitUntil([&] { return written() != before; }, Milliseconds(200));
        },
        kTimeout));
    for (const pid_t agent : agents(host)) measured.push_back(agent);
  }
#ifndef __SANITIZE_ADDRESS__
  for (const pid_t pid : measured) EXPECT_LT(valueIn(pid, "status", "VmHWM"), 64 << 10) << "kB of " << pid;
#endif
  poprun.resumeReading();
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
  EXPECT_EQ(leftOnHosts(), "");
}

}  // namespace
}  // namespace pop::testing
