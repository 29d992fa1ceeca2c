// SPDX-License-Identifier: Apache-2.0
// Jobs by way of the agent service, and how they end with it.
#include <csignal>

#include "tests/integration/service/service_fixture.h"
#include "tests/testing/test_child.h"
#include "tests/testing/tracer.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class JobByService : public ServiceTest {
 protected:
  // A job that runs until it is ended.
  PoprunSetup longJob() const { return jobOf("alice", {"-n", "2"}, {"say-signals"}); }

  // Makes look-ups slow, as a name service that does not answer.
  void makeLookupsSlow(int host) const {
    ASSERT_EQ(hosts.run(host, "touch /tmp/slow").exit_code, 0);
    const std::string getent = hosts.bin(host) + "/getent";
    std::ofstream(getent) << "#!/bin/sh\necho >>/tmp/asked\nwhile [ -e /tmp/slow ]; do sleep 0.05; done\n"
                             "exec /usr/bin/getent \"$@\"\n";
    std::filesystem::permissions(getent, std::filesystem::perms(0755));
  }
  void waitForLookup(int host) const {
    ASSERT_TRUE(waitUntil([&] { return !fileText(hosts.tmp(host) + "/asked").empty(); }, kTimeout));
  }
  void letLookupsGo(int host) const { ASSERT_EQ(hosts.run(host, "rm /tmp/slow").exit_code, 0); }
};

// An instance on each host leaves a process in another session, and stops and kills its keeper and agent.
TEST_F(JobByService, LeavesNothingThoughItKillsItsKeeperAndAgent) {
  serveAll();
  const std::string attack =
      "(setsid sh -c 'trap \"\" HUP TERM; sleep 1000 & sleep 1000' &); agent=$(sed -n 's/^PPid:\t//p' "
      "/proc/$PPID/status); "
      "kill -STOP $PPID $agent; kill -KILL $PPID $agent; sleep 1000";
  const Outcome outcome = run(jobOf("alice", {"-n", "2", "sh", "-c", attack}));
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(jobProcesses(), "") << "they were gone when poprun was told";
}

TEST_F(JobByService, RunsAsTheUserOfTheCertificate) {
  serveAll();
  const Outcome outcome =
      run(jobOf("alice", {"-n", "2", "--tag-output", "no", "sh", "-c", "echo $(uname -n) $(id -un)"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("h0 nobody", "h1 nobody"));
  EXPECT_EQ(said(outcome.err), "");
  EXPECT_EQ(leftOfJobs(), "");
}

TEST_F(JobByService, IsInTheLogUntilItsEnd) {
  serveAll();
  EXPECT_EQ(run(jobOf("alice", {"-n", "2", "true"})).exit_code, 0);
  for (const int host : {0, 1}) {
    ASSERT_TRUE(waitForLog(host, ": over after ")) << logOf(host);
    EXPECT_THAT(logOf(host), ContainsRegex("job [0-9a-f]+ of 'alice': over after [0-9.]+ s: its launcher has "
                                           "closed the connection\n"));
  }
}

TEST_F(JobByService, SaysThatFilesAreCopiedBySsh) {
  serveAll();
  const Outcome outcome = run(jobOf("alice", {"-n", "2", "--synchronise", "/etc/hostname", "true"}));
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(hosts.address(1) + ": the remote shell failed: "),
                                 HasSubstr("(--synchronise uses ssh even with --agent-port)\n")));
}

TEST_F(JobByService, HasTheLimitsOfTheServiceAsItFoundThem) {
  serveAll("--spares 0", "ulimit -Sn 321; " POP_BIN_DIR "/popdist-agent");
  const Outcome outcome = run(jobOf("alice", {"-n", "2", "--tag-output", "no", "sh", "-c", "ulimit -Sn"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "321\n321\n");
}

TEST_F(JobByService, RunsWhereTheCallerOfTheServiceIgnoresSigchld) {
  serveAll("--spares 0", "env --ignore-signal=CHLD " POP_BIN_DIR "/popdist-agent");
  const Outcome outcome = run(jobOf("alice", {"-n", "2", "true"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(JobByService, LeavesNothingInItsUsersCache) {
  serveAll();
  for (int job = 0; job < 2; ++job) EXPECT_EQ(run(jobOf("alice", {"-n", "2", "true"})).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(cache()));
}

// Its libraries take longer to load than all else.
TEST_F(JobByService, LoadsNoSsh) {
  serveAll();
  PoprunProcess poprun(longJob());
  ASSERT_EQ(poprun.waitReady(2).size(), 2U) << poprun.err();
  const std::string maps = fileText("/proc/" + std::to_string(poprun.pid()) + "/maps");
  EXPECT_THAT(maps, HasSubstr("poprun-service"));
  EXPECT_THAT(maps, Not(HasSubstr("libssh")));
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(kTimeout), 130);
}

TEST_F(JobByService, TakesTheProcessThatWasStartedAhead) {
  serveAll("--spares 1");
  const PoprunSetup job = jobOf("alice", {"-n", "2", "true"});
  ASSERT_EQ(run(job).exit_code, 0);
  std::vector<std::string> ahead;
  ASSERT_TRUE(waitUntil(
      [&] {
        ahead = spares();
        return ahead.size() == 2;
      },
      kTimeout));
  ASSERT_EQ(run(job).exit_code, 0);
  for (int host = 0; host < 2; ++host)
    EXPECT_THAT(logOf(host), HasSubstr("started, pid " + ahead[static_cast<std::size_t>(host)])) << host;
}

TEST_F(JobByService, EndsWithAServiceThatIsStopped) {
  serveAll("--spares 1");
  PoprunProcess poprun(longJob());
  ASSERT_EQ(poprun.waitReady(2).size(), 2U) << poprun.err();
  signalService(1, "TERM");
  EXPECT_NE(poprun.wait(), 0);
  EXPECT_TRUE(waitForLog(1, "ending 1 job: signal 15")) << logOf(1);
  EXPECT_THAT(poprun.err(),
              AllOf(HasSubstr(hosts.address(1)), HasSubstr("the agent service there was stopped")));
  signalService(0, "TERM");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(JobByService, EndsWithAServiceThatIsKilled) {
  serveAll("--spares 1");
  PoprunProcess poprun(longJob());
  ASSERT_EQ(poprun.waitReady(2).size(), 2U) << poprun.err();
  signalService(1, "KILL");
  EXPECT_NE(poprun.wait(), 0);
  EXPECT_THAT(poprun.err(), HasSubstr(hosts.address(1)));
  signalService(0, "KILL");
  EXPECT_EQ(leftOnHosts(), "");
}

// The service learns nothing of it: the network is down when the connection is reset, and the job's agent,
// which would send something over it, stands still until it is killed. poprun looks when the network is back.
TEST_F(JobByService, IsEndedByItsTokenWhenTheStreamBreaks) {
  serveAll();
  PoprunProcess poprun(longJob());
  ASSERT_EQ(poprun.waitReady(2).size(), 2U) << poprun.err();
  const std::string log = logOf(1);
  const std::string agent = log.substr(log.rfind("pid ") + 4);
  ASSERT_EQ(hosts.run(1, "kill -STOP " + agent).exit_code, 0);
  poprun.signal(SIGSTOP);
  ASSERT_TRUE(waitUntil([&] { return statOf(poprun.pid()).value_or(ProcessStat{}).state == 'T'; }, kTimeout));
  hosts.linkDown(1);
  ASSERT_EQ(std::system(("ss -K dst " + hosts.address(1) + " dport = 7571 >/dev/null 2>&1").c_str()), 0);
  hosts.linkUp(1);
  poprun.signal(SIGCONT);
  EXPECT_NE(poprun.wait(), 0);
  EXPECT_TRUE(waitForLog(1, ": its launcher ended it")) << logOf(1) << poprun.err();
  EXPECT_EQ(leftOfJobs(), "");
}

TEST_F(JobByService, EndsWithItsLauncher) {
  serveAll();
  PoprunProcess poprun(longJob());
  ASSERT_EQ(poprun.waitReady(2).size(), 2U) << poprun.err();
  poprun.signal(SIGKILL);
  poprun.wait();
  EXPECT_EQ(leftOfJobs(), "");
}

TEST_F(JobByService, SaysForWhomItWaits) {
  serveAll();
  hosts.linkDown(1);
  const Outcome outcome = run(jobOf("alice", {"-n", "2", "--connect-timeout", "15", "true"}), 2 * kTimeout);
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_THAT(outcome.err, HasSubstr("poprun: waiting for 1 of 2 hosts (" + hosts.address(1) +
                                     ": waiting for its agent's answer)\n"));
}

// Its user can trace it, and never look: it stays a zombie that its parent cannot reap.
TEST_F(JobByService, GoesOnWhenAnAgentOfAnotherIsKeptByATracer) {
  serveAll();
  PoprunProcess poprun(longJob());
  ASSERT_EQ(poprun.waitReady(2).size(), 2U) << poprun.err();
  const pid_t agent = agentOn(1);
  const Tracer tracer(agent);
  ASSERT_TRUE(tracer.holds());
  ::kill(agent, SIGKILL);
  EXPECT_NE(poprun.wait(), 0);
  EXPECT_EQ(statOf(agent).value_or(ProcessStat{}).state, 'Z');
  const Outcome next = run(jobOf("alice", {"-n", "2", "true"}));
  EXPECT_EQ(next.exit_code, 0) << next.err;
}

TEST_F(JobByService, GoesOnWhenTheUsersFileIsReadAgain) {
  serveAll("--spares 1");
  PoprunProcess poprun(longJob());
  ASSERT_EQ(poprun.waitReady(2).size(), 2U) << poprun.err();
  ASSERT_TRUE(waitUntil([&] { return spares().size() == 2; }, kTimeout));
  writeUsers(0, "bob = root\n");
  signalService(0, "HUP");
  ASSERT_TRUE(waitForLog(0, "reloaded the users file")) << logOf(0);
  EXPECT_TRUE(waitUntil([&] { return spares().size() == 1; }, kTimeout)) << "a spare of a user who is gone";
  const Outcome refused = run(jobOf("alice", {"-n", "2", "true"}));
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_THAT(refused.err, HasSubstr("'alice' is not in the users file of this host's agent"));
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130) << poprun.err();
}

TEST_F(JobByService, TakesNoProcessThatWasStartedBeforeUsersWereReadAgain) {
  serve(0, "--spares 1");
  serve(1);
  ASSERT_EQ(run(jobOf("alice", {"-n", "2", "true"})).exit_code, 0);
  std::vector<std::string> ahead;
  const auto is_one = [&] { return (ahead = spares()).size() == 1; };
  ASSERT_TRUE(waitUntil(is_one, kTimeout));
  const std::string before = ahead.front();
  signalService(0, "HUP");
  EXPECT_TRUE(waitUntil([&] { return is_one() && ahead.front() != before; }, kTimeout));
}

// systemd takes a service for started once its program runs.
TEST_F(JobByService, ReadsItsFilesAgainWhenItWasAskedToWhileItStarted) {
  makeLookupsSlow(0);
  start(0);
  waitForLookup(0);
  signalService(0, "HUP");
  letLookupsGo(0);
  EXPECT_TRUE(waitForLog(0, "reloaded the users file")) << logOf(0);
}

// A name service on another host, which takes longer than jobs may be silent.
TEST_F(JobByService, GoesOnWhileUsersAreLookedUp) {
  serveAll();
  PoprunProcess poprun(longJob());
  ASSERT_EQ(poprun.waitReady(2).size(), 2U) << poprun.err();
  makeLookupsSlow(0);
  signalService(0, "HUP");
  waitForLookup(0);
  writeUsers(0, "bob = root\n");
  signalService(0, "HUP");
  const std::string health = "timeout 20 " POP_BIN_DIR "/popdist-agent health --address " + hosts.address(0) +
                             ":7571 --tls " + tlsOf("alice");
  EXPECT_EQ(std::system(health.c_str()), 0);
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130) << poprun.err();
  EXPECT_THAT(logOf(0), Not(HasSubstr("users file"))) << "nothing has answered yet";
  letLookupsGo(0);
  const std::string line = "reloaded the users file";
  ASSERT_TRUE(waitUntil([&] { return logOf(0).find(line) != logOf(0).rfind(line); }, kTimeout)) << logOf(0);
  EXPECT_THAT(run(jobOf("alice", {"-n", "2", "true"})).err, HasSubstr("'alice' is not in the users file"));
}

TEST_F(JobByService, KeepsTheUsersFileWhenTheNewOneIsWrong) {
  serveAll();
  writeUsers(0, "alice = nosuchuser\n");
  signalService(0, "HUP");
  ASSERT_TRUE(waitForLog(0, "cannot reload the users file")) << logOf(0);
  EXPECT_THAT(logOf(0), HasSubstr("nosuchuser"));
  EXPECT_EQ(run(jobOf("alice", {"-n", "2", "true"})).exit_code, 0);
}

TEST_F(JobByService, TakesCertificatesThatWereRenewed) {
  serveAll();
  PoprunProcess poprun(longJob());
  ASSERT_EQ(poprun.waitReady(2).size(), 2U) << poprun.err();
  const std::string renewed = tls() + "-renewed";
  makeCertificates(renewed);
  giveTo("alice", renewed);
  EXPECT_EQ(run(jobOf("alice", {"-n", "2", "true"})).exit_code, 125) << "of an authority not known there yet";
  for (int host = 0; host < 2; ++host) {
    installAt(host, renewed);
    signalService(host, "HUP");
    ASSERT_TRUE(waitForLog(host, "reloaded the certificates")) << logOf(host);
  }
  const Outcome next = run(jobOf("alice", {"-n", "2", "true"}));
  EXPECT_EQ(next.exit_code, 0) << next.err;
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130) << poprun.err();
}

TEST_F(JobByService, KeepsItsCertificatesWhenTheNewOnesAreWrong) {
  serveAll();
  ASSERT_EQ(hosts.run(0, "echo nonsense >/tmp/tls/host.pem").exit_code, 0);
  signalService(0, "HUP");
  ASSERT_TRUE(waitForLog(0, "cannot reload the certificates")) << logOf(0);
  EXPECT_EQ(run(jobOf("alice", {"-n", "2", "true"})).exit_code, 0);
}

TEST_F(JobByService, StaysWithinTheLimitsOfItsUser) {
  writeUsers(0, "alice = nobody jobs=1 instances=2\n");
  writeUsers(1, "alice = nobody jobs=1 instances=2\n");
  serveAll();
  const Outcome many = run(jobOf("alice", {"-n", "6", "true"}));
  EXPECT_EQ(many.exit_code, 125);
  EXPECT_THAT(many.err, HasSubstr("'alice' may have 2 instances at once on this host"));
  PoprunProcess poprun(longJob());
  ASSERT_EQ(poprun.waitReady(2).size(), 2U) << poprun.err();
  EXPECT_THAT(run(jobOf("alice", {"-n", "2", "true"})).err, HasSubstr("'alice' may have 1 job at once"));
  poprun.signal(SIGINT);
  poprun.wait();
  EXPECT_EQ(run(jobOf("alice", {"-n", "2", "true"})).exit_code, 0);
}

}  // namespace
}  // namespace pop::testing
