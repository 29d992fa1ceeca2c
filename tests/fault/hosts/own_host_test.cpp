// SPDX-License-Identifier: Apache-2.0
// Faults of the agent on poprun's own host, which is one of a job's several.
#include <csignal>

#include "tests/fault/hosts/faults_fixture.h"
#include "tests/testing/process_tree.h"

namespace pop::testing {
namespace {

class OwnHost : public HostFaults {
 protected:
  PoprunSetup waitingJobHereToo(const std::vector<std::string>& options = {}) const {
    PoprunSetup setup = waitingJob(options);
    setup.options[5] += ",localhost";
    for (std::string& option : setup.options) {
      if (option == std::to_string(hosts.count())) option = std::to_string(hosts.count() + 1);
    }
    return setup;
  }
};

TEST_F(OwnHost, IsLostWhenItsAgentStandsStillAndPoprunEnds) {
  PoprunProcess poprun(waitingJobHereToo({"--host-silence", "2"}));
  const std::vector<pid_t> pids = poprun.waitReady(4);
  ASSERT_EQ(pids.size(), 4U) << poprun.err();
  const pid_t agent = childNamed(poprun.pid(), "popdist-agent");
  ASSERT_GT(agent, 0);
  const auto cause = Clock::now();
  ASSERT_EQ(::kill(agent, SIGSTOP), 0);
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_THAT(said(poprun), ::testing::HasSubstr("host localhost was lost: nothing was received for 2 s"));
  EXPECT_FALSE(statOf(agent));
  EXPECT_FALSE(statOf(pids.back())) << "the instance of this host, the last one";
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(OwnHost, IsLostWhenItsAgentIsKilled) {
  PoprunProcess poprun(waitingJobHereToo());
  ASSERT_EQ(poprun.waitReady(4).size(), 4U) << poprun.err();
  const auto cause = Clock::now();
  send(SIGKILL, {childNamed(poprun.pid(), "popdist-agent")});
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun),
            "poprun: host localhost was lost: the popdist-agent there was killed; the other 3 instances were "
            "stopped\n");
  EXPECT_TRUE(poprun.goneWithin(kTimeout)) << "also the agent's keeper, which has been handed to us";
  EXPECT_EQ(leftOnHosts(), "");
}

// systemd and batch systems end a job so: by a signal to each of its processes.
TEST_F(OwnHost, HasItsGraceThoughItsAgentIsSignalledToo) {
  PoprunSetup setup = waitingJobHereToo({"--tag-output", "no"});
  setup.child = {"say-signals"};
  PoprunProcess poprun(setup);
  ASSERT_EQ(poprun.waitReady(4).size(), 4U) << poprun.err();
  const pid_t agent = childNamed(poprun.pid(), "popdist-agent");
  ASSERT_GT(agent, 0);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) send(signal, {agent});
  poprun.signal(SIGTERM);
  EXPECT_EQ(poprun.wait(), 143);
  EXPECT_EQ(said(poprun), "poprun: ended by SIGTERM; all instances were stopped\n");
  const std::vector<std::string> lines = linesOf(poprun.out());
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "SIGTERM"), 4);
  EXPECT_EQ(leftOnHosts(), "");
}

}  // namespace
}  // namespace pop::testing
