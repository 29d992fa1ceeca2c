// SPDX-License-Identifier: Apache-2.0
// Processes of a job on its hosts are killed, stopped or cut off, in the middle of the job.
#include <unistd.h>

#include <functional>
#include <optional>

#include "tests/fault/hosts/faults_fixture.h"
#include "tests/testing/tracer.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::MatchesRegex;

class HostLost : public HostFaults {
 protected:
  static std::string lost(const std::string& host, const std::string& why) {
    return "poprun: host " + host + " was lost: " + why + "; the other 2 instances were stopped\n";
  }

  void expectLostWhenClosedBy(const std::function<void()>& close) {
    PoprunProcess poprun(waitingJob());
    ASSERT_EQ(poprun.waitReady(3).size(), 3U);
    const auto cause = Clock::now();
    close();
    EXPECT_EQ(endAfter(cause, poprun), 125);
    EXPECT_EQ(said(poprun), lost("h1", "the connection was closed"));
    EXPECT_EQ(leftOnHosts(restOfLimit(cause)), "");
  }
};

TEST_F(HostLost, WhenItsAgentIsKilled) {
  PoprunProcess poprun(waitingJob());
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  const auto cause = Clock::now();
  send(SIGKILL, agents(1));
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun), lost("h1", "the popdist-agent there was killed"));
  EXPECT_EQ(leftOnHosts(restOfLimit(cause)), "");
}

TEST_F(HostLost, WhenItsKeeperIsKilled) {
  PoprunProcess poprun(waitingJob());
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  const auto cause = Clock::now();
  send(SIGKILL, named(1, "pop-keeper"));
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_THAT(said(poprun),
              MatchesRegex("poprun: instance 1 of .* \\(pid [0-9]+\\) was lost: the keeper process, "
                           "which holds all instances, was killed; the other 2 instances were "
                           "stopped\n  on h1, .* after the start, at .*\n"));
  EXPECT_EQ(leftOnHosts(restOfLimit(cause)), "");
}

TEST_F(HostLost, WhenItsAgentStandsStill) {
  PoprunProcess poprun(waitingJob({"--host-silence", kShortSilence}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  const auto cause = Clock::now();
  send(SIGSTOP, agents(1));
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun), lost("h1", "nothing was received for 2 s (--host-silence)"));
  EXPECT_EQ(leftOnHosts(restOfLimit(cause)), "");
}

// Its agent says nothing while it tries to end it, which takes longer than the silence of one that is lost.
TEST_F(HostFaults, AProcessThatResistsSigkillIsToldOf) {
  PoprunProcess poprun(job({"-n", "3", "--host-silence", kShortSilence, "sh", "-c", "sleep 1000 & wait"}));
  ASSERT_TRUE(poprun.waitFor([&] { return named(1, "sleep").size() == 1; })) << poprun.err();
  Tracer tracer(named(1, "sleep").front());
  ASSERT_TRUE(tracer.holds());
  const auto cause = Clock::now();
  poprun.signal(SIGTERM);
  EXPECT_EQ(endAfter(cause, poprun), 143);
  EXPECT_THAT(said(poprun), ::testing::HasSubstr("host h1: some process of the job resists SIGKILL (is it "
                                                 "waiting for a device or a file server?)\n"));
  tracer.letGo();
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(HostLost, WhenItsSshSessionStandsStill) {
  PoprunProcess poprun(waitingJob({"--host-silence", kShortSilence}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  const auto cause = Clock::now();
  const std::vector<pid_t> sessions = named(1, "sshd");
  send(SIGSTOP, sessions);
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun), lost("h1", "nothing was received for 2 s (--host-silence)"));
  send(SIGKILL, sessions);
  EXPECT_EQ(leftOnHosts(restOfLimit(cause)), "");
}

TEST_F(HostLost, WhenItsSshConnectionIsReset) {
  expectLostWhenClosedBy([&] { hosts.resetConnections(1); });
  EXPECT_TRUE(waitUntil([&] { return named(1, "sshd").empty(); }, kTimeout)) << "the session has ended, too";
  const Outcome next = run(job({"-n", "3", "true"}));
  EXPECT_EQ(next.exit_code, 0) << "its server has stayed: " << next.err;
}

TEST_F(HostLost, WhenItsSshSessionIsKilled) {
  expectLostWhenClosedBy([&] { hosts.killSessions(1); });
}

TEST_F(HostLost, WhenItsLinkIsCut) {
  PoprunProcess poprun(waitingJob());  // with the usual silence
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  const auto cause = Clock::now();
  hosts.linkDown(1);
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun), lost("h1", "nothing was received for 5 s (--host-silence)"));
  expectCleanBehindCutLink({1}, cause);
}

// The longest way to the end: the silence, and then the grace, both as they are unless asked otherwise.
TEST_F(HostLost, WhenItsLinkIsCutAndInstancesDoNotEndByThemselves) {
  PoprunProcess poprun(job({"-n", "3"}, {"ignore-term"}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  const auto cause = Clock::now();
  hosts.linkDown(1);
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun), lost("h1", "nothing was received for 5 s (--host-silence)"));
  expectCleanBehindCutLink({1}, cause);
}

TEST_F(HostLost, TogetherWithAnother) {
  PoprunProcess poprun(waitingJob({"--host-silence", kShortSilence}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  const auto cause = Clock::now();
  hosts.linksDown({1, 2});
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun),
            "poprun: hosts h1 and h2 were lost: nothing was received for 2 s (--host-silence); "
            "the other instance was stopped\n");
  expectCleanBehindCutLink({1, 2}, cause);
}

TEST_F(HostLost, AndTheJobGoesOnWithoutIt) {
  const char* script =
      "[ $POPDIST_RESTART_COUNT = 0 ] || exec uname -n; echo ready $POPDIST_INSTANCE_INDEX $$; exec sleep "
      "1000";
  PoprunProcess poprun(job({"-n", "6", "--host-silence", kShortSilence, "--max-restarts", "1", "--min-hosts",
                            "2", "--tag-output", "host", "sh", "-c", script}));
  ASSERT_EQ(poprun.waitReady(6).size(), 6U);
  const auto cause = Clock::now();
  hosts.linkDown(1);
  EXPECT_EQ(endAfter(cause, poprun), 0);
  EXPECT_EQ(said(poprun),
            "poprun: host h1 was lost: nothing was received for 2 s (--host-silence); the other 4 "
            "instances were stopped; the job starts again (restart 1 of 1)\n");
  EXPECT_THAT(linesOf(poprun.out()),
              IsSupersetOf({"h0:0: h0", "h0:1: h0", "h0:2: h0", "h2:3: h2", "h2:4: h2", "h2:5: h2"}));
  expectCleanBehindCutLink({1}, cause);
}

class StdinOfALostHost : public HostFaults {
 protected:
  // Instance 0 has read some of it, and its host is lost.
  void loseReader(const std::vector<std::string>& options) {
    PoprunSetup setup = job({"-n", "6", "--tag-output", "no"});
    setup.options.insert(setup.options.end(), options.begin(), options.end());
    setup.options.insert(setup.options.end(),
                         {"sh", "-c",
                          "[ $RANK = 0 ] || { [ $POPDIST_RESTART_COUNT = 0 ] && exec sleep 1000; exit 0; }; "
                          "[ $POPDIST_RESTART_COUNT = 0 ] || exec cat; "
                          "head -c 100000 >/dev/null; echo ready 0 $$; exec sleep 1000"});
    std::ofstream(directory_.path() + "/input") << text_;
    file_ = sys::openFile(directory_.path() + "/input").value();
    setup.descriptors[0] = file_.get();
    poprun_.emplace(setup);
    ASSERT_EQ(poprun_->waitReady(1).size(), 1U);
    send(SIGKILL, agents(0));
  }

  const std::string text_ = numberedLines(4 << 20);
  TempDir directory_;
  sys::Fd file_;
  std::optional<PoprunProcess> poprun_;
};

TEST_F(StdinOfALostHost, GoesOnOnAnotherWhereItWas) {
  loseReader({"--max-restarts", "1", "--min-hosts", "2"});
  EXPECT_EQ(poprun_->wait(), 0);
  const std::string out = poprun_->out().substr(poprun_->out().find('\n') + 1);
  EXPECT_GT(out.size(), text_.size() - (1 << 20));
  EXPECT_TRUE(text_.ends_with(out)) << out.size() << " bytes";
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(StdinOfALostHost, IsLeftToOthers) {
  loseReader({});
  EXPECT_EQ(poprun_->wait(), 125);
  EXPECT_EQ(::lseek(file_.get(), 0, SEEK_CUR), 0) << "nobody knows what was read there";
}

class BetweenTwoAttempts : public HostFaults {
 protected:
  // The first attempt fails, and has been told; its reader has three seconds for what is to happen.
  void waitForSecondAttempt() {
    ASSERT_TRUE(poprun_.waitFor([&] { return poprun_.err().find("(restart 1 of 2)") != std::string::npos; }));
  }

  PoprunProcess poprun_{job({"-n", "6", "--max-restarts", "2", "--restart-delay", "3", "--min-hosts", "2",
                             "sh", "-c", "[ $POPDIST_RESTART_COUNT != 0 ] || exit 3"})};
};

TEST_F(BetweenTwoAttempts, AHostWhoseKeeperIsKilledIsLeftOut) {
  waitForSecondAttempt();
  send(SIGKILL, named(1, "pop-keeper"));
  EXPECT_EQ(poprun_.wait(), 0);
  EXPECT_THAT(said(poprun_),
              HasSubstr("poprun: the job cannot be placed on host h1: its keeper process was killed: it "
                        "cannot start more instances; the job starts again in 3 s (restart 2 of 2)\n"));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(BetweenTwoAttempts, AHostWhoseKeeperStandsStillIsLeftOut) {
  waitForSecondAttempt();
  send(SIGSTOP, named(1, "pop-keeper"));
  EXPECT_EQ(poprun_.wait(), 0);
  EXPECT_THAT(said(poprun_),
              HasSubstr("h1: its keeper process hung, or waited for a process that resists SIGKILL, "
                        "and was abandoned: it cannot start more instances"));
  EXPECT_EQ(leftOnHosts(), "");
}

}  // namespace
}  // namespace pop::testing
