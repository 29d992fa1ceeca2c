// SPDX-License-Identifier: Apache-2.0
// Faults of a job that runs by way of the agent service.
#include <regex>

#include "tests/integration/service/service_fixture.h"
#include "tests/testing/tracer.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class ServiceFaults : public ServiceTest {
 protected:
  ServiceFaults() : ServiceTest(3) { serveAll(); }

  /// One instance on each host, all waiting for ever.
  PoprunSetup waitingJob(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"-n", std::to_string(hosts.count())});
    return jobOf("alice", std::move(options), {"wait"});
  }
  /// One instance on each host, each with a process that it has started.
  PoprunSetup lingeringJob() const {
    return jobOf("alice", {"-n", std::to_string(hosts.count()), "sh", "-c", "sleep 1000 & wait"});
  }
  std::string lost(int host, const std::string& why) const {
    return "poprun: host " + hosts.address(host) + " was lost: " + why +
           "; the other 2 instances were stopped\n";
  }
  /// Agents of jobs: all but the service itself.
  std::vector<pid_t> jobAgents(int host) const {
    std::vector<pid_t> found;
    for (const pid_t pid : agents(host)) {
      if (fileText("/proc/" + std::to_string(pid) + "/cmdline").find("--stdio") != std::string::npos)
        found.push_back(pid);
    }
    return found;
  }
  /// Agents of jobs and all that they have started do nothing any more, until they are killed.
  void freezeAgents(int host) const {
    const std::regex of_version2(R"(\S+ (\S+) cgroup2 )");
    const std::string mounts = fileText("/proc/self/mounts");
    std::smatch mount;
    ASSERT_TRUE(std::regex_search(mounts, mount, of_version2)) << mounts;
    for (const pid_t pid : named(host, "popdist-agent")) {
      const std::string cgroups = fileText("/proc/" + std::to_string(pid) + "/cgroup");
      std::smatch cgroup;
      ASSERT_TRUE(std::regex_search(cgroups, cgroup, std::regex("0::(/.+)"))) << cgroups;
      const std::string file = mount[1].str() + cgroup[1].str() + "/cgroup.freeze";
      std::ofstream(file) << 1;
      EXPECT_EQ(fileText(file), "1\n");
    }
  }
  /// The services have noticed it, too: the same user's next job runs.
  void expectNextJobRuns() const {
    const Outcome next = run(jobOf("alice", {"-n", "3", "--tag-output", "no", "echo", "again"}));
    EXPECT_EQ(next.exit_code, 0) << next.err;
    EXPECT_EQ(next.out, "again\nagain\nagain\n");
  }
};

TEST_F(ServiceFaults, TheAgentBehindTheServiceIsKilled) {
  PoprunProcess poprun(waitingJob());
  ASSERT_EQ(poprun.waitReady(3).size(), 3U) << poprun.err();
  const auto cause = Clock::now();
  send(SIGKILL, jobAgents(1));
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_THAT(said(poprun), StartsWith("poprun: host " + hosts.address(1) +
                                       " was lost: the popdist-agent there was killed (it said: entering /"));
  EXPECT_EQ(leftOfJobs(restOfLimit(cause)), "");
  expectNextJobRuns();
}

TEST_F(ServiceFaults, TheKeeperBehindTheServiceIsKilled) {
  PoprunProcess poprun(waitingJob());
  ASSERT_EQ(poprun.waitReady(3).size(), 3U) << poprun.err();
  const auto cause = Clock::now();
  send(SIGKILL, named(1, "pop-keeper"));
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_THAT(said(poprun), HasSubstr("was lost: the keeper process, which holds all instances, was killed; "
                                      "the other 2 instances were stopped"));
  EXPECT_EQ(leftOfJobs(restOfLimit(cause)), "");
  expectNextJobRuns();
}

// A job could stop it, as a process of the same user.
TEST_F(ServiceFaults, AnAgentBehindTheServiceThatIsStoppedGoesOn) {
  PoprunProcess poprun(waitingJob());
  ASSERT_EQ(poprun.waitReady(3).size(), 3U) << poprun.err();
  const std::vector<pid_t> stopped = named(1, "popdist-agent");
  send(SIGSTOP, stopped);
  EXPECT_TRUE(waitUntil(
      [&] {
        return std::none_of(stopped.begin(), stopped.end(),
                            [](pid_t pid) { return statOf(pid).value_or(ProcessStat{}).state == 'T'; });
      },
      kTimeout));
  poprun.signal(SIGTERM);
  EXPECT_EQ(poprun.wait(), 143);
  EXPECT_EQ(leftOfJobs(), "");
}

TEST_F(ServiceFaults, TheAgentBehindTheServiceStandsStill) {
  PoprunProcess poprun(waitingJob({"--host-silence", kShortSilence}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U) << poprun.err();
  const auto cause = Clock::now();
  freezeAgents(1);
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun), lost(1, "nothing was received for 2 s (--host-silence)"));
  EXPECT_EQ(leftOfJobs(), "");
  expectNextJobRuns();
}

TEST_F(ServiceFaults, AProcessThatResistsSigkillIsToldOf) {
  PoprunProcess poprun(lingeringJob());
  ASSERT_TRUE(poprun.waitFor([&] { return named(1, "sleep").size() == 1; })) << poprun.err();
  Tracer tracer(named(1, "sleep").front());
  ASSERT_TRUE(tracer.holds());
  const auto cause = Clock::now();
  poprun.signal(SIGTERM);
  EXPECT_EQ(endAfter(cause, poprun), 143);
  EXPECT_THAT(said(poprun), HasSubstr("host " + hosts.address(1) +
                                      ": some process of the job resists SIGKILL (is it waiting for a device "
                                      "or a file server?)\n"));
  EXPECT_TRUE(waitForLog(1, "resists SIGKILL"));
  tracer.letGo();
  EXPECT_EQ(leftOfJobs(), "");
}

TEST_F(ServiceFaults, AnAgentThatDoesNotEndItsJobIsToldOf) {
  PoprunProcess poprun(lingeringJob());
  ASSERT_TRUE(poprun.waitFor([&] { return named(1, "sleep").size() == 1; })) << poprun.err();
  const pid_t resisting = named(1, "sleep").front();
  Tracer tracer(resisting);
  ASSERT_TRUE(tracer.holds());
  poprun.signal(SIGTERM);
  ASSERT_TRUE(poprun.waitFor([&] { return statOf(resisting).value_or(ProcessStat{}).state == 'Z'; }));
  freezeAgents(1);
  EXPECT_EQ(poprun.wait(), 143);
  EXPECT_THAT(said(poprun),
              HasSubstr("host " + hosts.address(1) +
                        ": the popdist-agent there did not end all processes of the job within 8 s; it was "
                        "killed\n"));
  EXPECT_TRUE(waitForLog(1, "did not end all processes of the job"));
  tracer.letGo();
  EXPECT_EQ(leftOfJobs(), "");
}

TEST_F(ServiceFaults, TheServiceIsKilled) {
  PoprunProcess poprun(waitingJob());
  ASSERT_EQ(poprun.waitReady(3).size(), 3U) << poprun.err();
  const auto cause = Clock::now();
  signalService(1, "KILL");
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun), lost(1, "the connection was closed"));
  EXPECT_EQ(leftOfJobs(restOfLimit(cause)), "");
}

TEST_F(ServiceFaults, TheServiceStandsStill) {
  PoprunProcess poprun(waitingJob({"--host-silence", kShortSilence}));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U) << poprun.err();
  const auto cause = Clock::now();
  signalService(1, "STOP");
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun), lost(1, "nothing was received for 2 s (--host-silence)"));
  EXPECT_TRUE(waitUntil([&] { return named(1, "pop_test_child").empty(); }, restOfLimit(cause)))
      << "the agent behind the service hears nothing either";
  signalService(1, "CONT");
  EXPECT_EQ(leftOfJobs(restOfLimit(cause)), "");
  expectNextJobRuns();
}

TEST_F(ServiceFaults, AHostIsCutOff) {
  PoprunProcess poprun(waitingJob());  // with the usual silence
  ASSERT_EQ(poprun.waitReady(3).size(), 3U) << poprun.err();
  const auto cause = Clock::now();
  hosts.linkDown(1);
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun), lost(1, "nothing was received for 5 s (--host-silence)"));
  EXPECT_EQ(leftOfJobs(restOfLimit(cause)), "") << "while it is cut off";
  hosts.linkUp(1);
  expectNextJobRuns();
}

TEST_F(ServiceFaults, AHostIsCutOffAndTheJobStartsAgainWithoutIt) {
  PoprunProcess poprun(
      waitingJob({"-n", "6", "--host-silence", kShortSilence, "--max-restarts", "1", "--min-hosts", "2"}));
  ASSERT_EQ(poprun.waitReady(6).size(), 6U) << poprun.err();
  hosts.linkDown(1);
  ASSERT_TRUE(poprun.waitFor([&] { return said(poprun).find("starts again") != std::string::npos; }));
  ASSERT_TRUE(poprun.waitFor([&] { return named(0, "pop_test_child").size() == 3; })) << poprun.err();
  EXPECT_THAT(said(poprun),
              MatchesRegex(".*nothing was received for 2 s .*; the other 4 instances were stopped; "
                           "the job starts again \\(restart 1 of 1\\)\n"));
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
  EXPECT_EQ(leftOfJobs(), "");
}

TEST_F(ServiceFaults, TheLauncherIsCutOff) {
  std::filesystem::copy(tlsOf("alice"), hosts.tmp(0) + "/alice");
  PoprunSetup job{
      .options = {"-n", "2", "--agent-port", std::to_string(kServicePort), "--agent-tls", "/tmp/alice",
                  "--host", hosts.address(1) + ',' + hosts.address(2), "--host-silence", kShortSilence},
      .child = {"wait"},
      .environment = {{"TMPDIR", "/tmp"}},
      .program = poprunOn(0)};
  PoprunProcess poprun(job);
  ASSERT_EQ(poprun.waitReady(2).size(), 2U) << poprun.err();
  const auto cause = Clock::now();
  hosts.linkDown(0);
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun), "poprun: hosts " + hosts.address(1) + " and " + hosts.address(2) +
                              " were lost: nothing was received for 2 s (--host-silence)\n");
  EXPECT_EQ(leftOfJobs(restOfLimit(cause)), "");
  hosts.linkUp(0);
  expectNextJobRuns();
}

TEST_F(ServiceFaults, TheLauncherIsKilled) {
  PoprunProcess poprun(waitingJob());
  ASSERT_EQ(poprun.waitReady(3).size(), 3U) << poprun.err();
  const auto cause = Clock::now();
  poprun.signal(SIGKILL);
  EXPECT_EQ(leftOfJobs(restOfLimit(cause)), "");
  EXPECT_EQ(endAfter(cause, poprun), -SIGKILL);
  expectNextJobRuns();
}

}  // namespace
}  // namespace pop::testing
