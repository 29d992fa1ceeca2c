// SPDX-License-Identifier: Apache-2.0
// Hosts that are not as they should be: a full disk, another agent, another time of day, a name that means
// something else there.
#include <filesystem>
#include <fstream>

#include "common/contract/version.h"
#include "tests/fault/hosts/faults_fixture.h"

namespace pop::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::UnorderedElementsAre;

class FarSide : public HostFaults {
 protected:
  // Without --agent-path: an agent on PATH, else a copy.
  PoprunSetup jobWithFoundAgent(std::vector<std::string> options) const {
    PoprunSetup setup = job({});
    std::erase(setup.options, "--agent-path");
    std::erase(setup.options, std::string(POP_BIN_DIR "/popdist-agent"));
    setup.options.insert(setup.options.end(), options.begin(), options.end());
    return setup;
  }

  // Installs the script as popdist-agent, first in PATH there.
  void install(int host, const std::string& script) const {
    const std::string path = hosts.bin(host) + "/popdist-agent";
    std::ofstream(path) << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(path, std::filesystem::perms{0755});
  }

  // poprun's own path has no agent there.
  void hideOurPrograms(int host) const {
    ASSERT_EQ(hosts.run(host, "mount -t tmpfs tmpfs " POP_BIN_DIR).exit_code, 0);
  }

  std::string inCache(int host) const { return hosts.run(host, "ls -A ~/.cache/poprun").text; }
};

TEST_F(FarSide, FullDiskFailsTheCopyOfTheAgentAndIsNamed) {
  hideOurPrograms(1);
  ASSERT_EQ(hosts.run(1, "mkdir -p ~/.cache && mount -t tmpfs -o size=1m none ~/.cache").exit_code, 0);
  PoprunProcess poprun(jobWithFoundAgent({"-n", "3", "true"}));
  EXPECT_EQ(endAfter(Clock::now(), poprun), 125);
  EXPECT_THAT(said(poprun),
              MatchesRegex("poprun: the job cannot be placed on host h1: while starting the agent: writing "
                           "/.*/.cache/poprun/.popdist-agent.[^:]*: .*No space left on device\n"));
  EXPECT_EQ(inCache(1), "");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(FarSide, FullDisksDoNotMatterOnceTheAgentIsThere) {
  const std::string fill =
      "mkdir -p ~/.cache && for disk in ~/.cache /dev/shm /var/tmp; do "
      "mount -t tmpfs -o size=4k,nr_inodes=1 none $disk || exit 1; done";
  for (int host = 0; host < 3; ++host) ASSERT_EQ(hosts.run(host, fill).exit_code, 0);
  PoprunProcess poprun(job({"-n", "3", "--tag-output", "no"}, {"lines", "2000", "100"}));
  EXPECT_EQ(endAfter(Clock::now(), poprun), 0);
  EXPECT_EQ(linesOf(poprun.out()).size(), 6000U);
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(FarSide, AgentOfAnotherVersionIsLeftAlone) {
  hideOurPrograms(1);
  install(1, "echo popdist-agent 0.0.1");
  PoprunProcess poprun(jobWithFoundAgent({"-n", "3", "--tag-output", "no", "uname", "-n"}));
  EXPECT_EQ(endAfter(Clock::now(), poprun), 0);
  EXPECT_THAT(linesOf(poprun.out()), UnorderedElementsAre("h0", "h1", "h2"));
  EXPECT_EQ(said(poprun), "");
  EXPECT_THAT(inCache(1), MatchesRegex("popdist-agent-[0-9a-f]+\n"));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(FarSide, AgentOfAnotherVersionThatIsAskedForIsAnError) {
  install(1, "echo popdist-agent 0.0.1");
  PoprunSetup setup = jobWithFoundAgent({"-n", "1", "--agent-path", "/usr/local/bin/popdist-agent", "true"});
  setup.options[3] = "h1";
  PoprunProcess poprun(setup);
  EXPECT_EQ(endAfter(Clock::now(), poprun), 125);
  EXPECT_EQ(said(poprun),
            std::string("poprun: the job cannot be placed on host h1: while starting the agent: "
                        "/usr/local/bin/popdist-agent is not version ") +
                contract::kVersion + " there, but popdist-agent 0.0.1\n");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(FarSide, AgentThatSpeaksAnotherProtocolIsAnError) {
  for (int host = 0; host < 3; ++host)
    install(host,
            std::string("exec ") + (host == 1 ? OTHER_AGENT_PATH : POP_BIN_DIR "/popdist-agent") + " \"$@\"");
  PoprunProcess poprun(jobWithFoundAgent({"-n", "3", "true"}));
  EXPECT_EQ(endAfter(Clock::now(), poprun), 125);
  EXPECT_EQ(said(poprun),
            std::string("poprun: the job cannot be placed on host h1: popdist-agent there is version 99.0, "
                        "poprun is version ") +
                contract::kVersion + ": install the same version on both\n");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(FarSide, AgentThatDoesNotUnderstandTheHelloMayBeOfAnotherVersion) {
  install(1, "exec " OTHER_AGENT_PATH " \"$@\" refuse");
  PoprunProcess poprun(jobWithFoundAgent({"-n", "3", "true"}));
  EXPECT_EQ(endAfter(Clock::now(), poprun), 125);
  EXPECT_EQ(said(poprun),
            std::string("poprun: the job cannot be placed on host h1: the first command is not Hello (a "
                        "popdist-agent of another version? poprun is ") +
                contract::kVersion + ")\n");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(FarSide, AgentThatFailsBeforeItAnswersIsSaidToHaveEnded) {
  install(1, "[ \"$1\" = --version ] || exit 125\nexec " POP_BIN_DIR "/popdist-agent --version");
  PoprunProcess poprun(jobWithFoundAgent({"-n", "3", "true"}));
  EXPECT_EQ(endAfter(Clock::now(), poprun), 125);
  EXPECT_EQ(
      said(poprun),
      "poprun: the job cannot be placed on host h1: the popdist-agent there ended with exit code 125\n");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(FarSide, ClocksHoursApartChangeNothing) {
  for (int host = 0; host < 3; ++host) {
    const std::string shift = host == 0 ? "+0h" : host == 1 ? "+5h" : "-7h";
    install(host,
            "export ASAN_OPTIONS=verify_asan_link_order=0\nexec /usr/bin/faketime --exclude-monotonic -f " +
                shift +
                " sh -c 'LD_PRELOAD=" REAL_TIMERFD_PATH ":$LD_PRELOAD exec \"$0\" \"$@\"' " DYNAMIC_AGENT_PATH
                " \"$@\"");
  }
  const auto options = [](std::vector<std::string> rest) {
    rest.insert(rest.begin(), {"-n", "3", "--host-silence", kShortSilence, "--tag-output", "no"});
    return rest;
  };
  PoprunProcess poprun(jobWithFoundAgent(options(
      {"sh", "-c", "echo ready $POPDIST_INSTANCE_INDEX $$; echo clock $(date +%s); exec sleep 1000"})));
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  std::vector<long> clocks;
  ASSERT_TRUE(poprun.waitFor([&] {
    clocks.clear();
    for (const std::string& line : linesOf(poprun.out())) {
      if (line.starts_with("clock ") && line.size() > 15) clocks.push_back(std::stol(line.substr(6)));
    }
    return clocks.size() == 3;
  }));
  std::sort(clocks.begin(), clocks.end());
  EXPECT_NEAR(static_cast<double>(clocks[2] - clocks[0]), 12 * 3600, 60);
  EXPECT_FALSE(poprun.waitFor([&] { return poprun.ended(); }, Milliseconds(3000)))
      << "longer than the silence";
  const auto cause = Clock::now();
  hosts.linkDown(1);
  EXPECT_EQ(endAfter(cause, poprun), 125);
  EXPECT_EQ(said(poprun),
            "poprun: host h1 was lost: nothing was received for 2 s (--host-silence); the other 2 "
            "instances were stopped\n");
  expectCleanBehindCutLink({1}, cause);
}

TEST_F(FarSide, LauncherWhoseNameMeansLoopbackThereIsStillReached) {
  for (int host = 0; host < 3; ++host)
    ASSERT_EQ(hosts.run(host, "printf '127.0.0.1 localhost\\n127.0.1.1 h0\\n' >/etc/hosts").exit_code, 0);
  const char* meet = R"(import os, select, socket
at = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if os.environ["RANK"] == "0":
    server = socket.create_server(at)
    for _ in range(2): server.accept()
else:
    for _ in range(500):
        try:
            socket.create_connection(at, 1)
            break
        except OSError:
            select.select([], [], [], 0.02)
    else:
        raise SystemExit("nobody is at %s:%d" % at)
print(at[0]))";
  PoprunSetup setup = jobFrom(0, "h0," + hosts.address(1) + ',' + hosts.address(2),
                              {"-n", "3", "--tag-output", "no", "/usr/bin/python3", "-c", meet});
  PoprunProcess poprun(setup);
  EXPECT_EQ(endAfter(Clock::now(), poprun, kTimeout), 0);
  EXPECT_EQ(linesOf(poprun.out()).size(), 3U);
  EXPECT_THAT(linesOf(poprun.out()), Each(hosts.address(0)));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(FarSide, OfHostsThatFailTogetherOneDecidesAndIsNamed) {
  PoprunProcess poprun(job({"-n", "3", "sh", "-c", "exit $((40 + RANK))"}));
  const int exit_code = endAfter(Clock::now(), poprun);
  const std::string who = std::to_string(exit_code - 40);
  EXPECT_THAT(exit_code, ::testing::AllOf(::testing::Ge(40), ::testing::Le(42)));
  EXPECT_THAT(said(poprun), HasSubstr("poprun: instance " + who + " of sh"));
  EXPECT_THAT(said(poprun), HasSubstr("exited with code " + std::to_string(exit_code)));
  EXPECT_THAT(said(poprun), HasSubstr("on h" + who + ","));
  EXPECT_EQ(leftOnHosts(), "");
}

}  // namespace
}  // namespace pop::testing
