// SPDX-License-Identifier: Apache-2.0
// The service under packaging/popdist-agent.service: with the powers of root that this leaves it, and no
// others.
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "tests/integration/service/service_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr const char* kUnitFile = POP_SOURCE_DIR "/packaging/popdist-agent.service";

// The agent's program, after what gives it "CAP_SETUID CAP_KILL" and nothing else, as setpriv has it.
std::string boundedAgent() {
  const std::string setting = "CapabilityBoundingSet=CAP_";
  std::string names;
  for (const std::string& line : linesOf(fileText(kUnitFile))) {
    if (!line.starts_with(setting)) continue;
    std::istringstream words(line.substr(setting.find('=') + 1));
    for (std::string word; words >> word;) names += ",+" + word.substr(4);
  }
  std::transform(names.begin(), names.end(), names.begin(),
                 [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
  EXPECT_NE(names, "");
  return "setpriv --inh-caps=-all --bounding-set=-all" + names + " " POP_BIN_DIR "/popdist-agent";
}

class UnitFile : public ServiceTest {
 protected:
  UnitFile() { serveAll("--spares 0", boundedAgent()); }
};

TEST_F(UnitFile, LeavesThePowerToRunJobsAsTheirUsers) {
  const Outcome outcome = run(
      jobOf("alice", {"-n", "2", "--tag-output", "no", "sh", "-c", "id -un; grep CapEff /proc/self/status"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string none = "CapEff:\t0000000000000000";
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("nobody", none, "nobody", none));
  EXPECT_EQ(leftOfJobs(), "");
}

// Its keeper stands still, and its agent is stopped over and over: only the service can end them.
TEST_F(UnitFile, LeavesThePowerToEndWhatTheyRun) {
  PoprunProcess poprun(jobOf("alice", {"-n", "2", "--host-silence", "60"}, {"wait"}));
  ASSERT_EQ(poprun.waitReady(2).size(), 2U) << poprun.err();
  send(SIGSTOP, named(1, "pop-keeper"));
  const bool ended = waitUntil(
      [this] {
        if (const pid_t agent = agentOn(1); agent > 1) ::kill(agent, SIGSTOP);
        return logOf(1).find("over and over") != std::string::npos;
      },
      kTimeout);
  EXPECT_TRUE(ended) << logOf(1);
  EXPECT_EQ(poprun.wait(), 125);
  EXPECT_EQ(leftOfJobs(), "");
}

TEST_F(UnitFile, LeavesThePowerToReadItsFilesAgain) {
  writeUsers(0, "bob = nobody\n");
  signalService(0, "HUP");
  EXPECT_TRUE(waitForLog(0, "reloaded the users file")) << logOf(0);
  EXPECT_TRUE(waitForLog(0, "reloaded the certificates")) << logOf(0);
  EXPECT_THAT(run(jobOf("alice", {"-n", "2", "true"})).err, HasSubstr("'alice' is not in the users file"));
  writeUsers(0, "alice = nobody\n");
  signalService(0, "HUP");
  EXPECT_TRUE(waitUntil([&] { return run(jobOf("alice", {"-n", "2", "true"})).exit_code == 0; }, kTimeout));
}

// The same effect as OOMScoreAdjust's.
const std::string kProtected = "choom -n -500 -- ";

class ProtectedService : public ServiceTest {};

TEST_F(ProtectedService, LetsNoJobTakeTheProtectionBack) {
  if (std::system((kProtected + "true >/dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << "nothing can be protected from the OOM killer here";
  serveAll("--spares 0", kProtected + boundedAgent());
  const std::string score = "/proc/self/oom_score_adj";
  const Outcome outcome = run(jobOf("alice", {"-n", "2", "--tag-output", "no", "sh", "-c",
                                              "(echo -1 >" + score + ") 2>/dev/null; cat " + score}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "0\n0\n");
  EXPECT_EQ(leftOfJobs(), "");
}

TEST(UnitFileText, TakesTheProtectionFromJobsForGood) {
  const std::string text = fileText(kUnitFile);
  EXPECT_THAT(text, HasSubstr("OOMScoreAdjust=-"));
  EXPECT_THAT(boundedAgent(), HasSubstr(",+sys_resource")) << "without it a job may write the score again";
}

TEST(UnitFileText, IsWhatSystemdUnderstands) {
  if (std::system("command -v systemd-analyze >/dev/null") != 0) GTEST_SKIP() << "there is no systemd";
  const TempDir directory;
  std::string text = fileText(kUnitFile);
  const std::string installed = "/usr/bin/popdist-agent";
  const std::size_t at = text.find(installed);
  ASSERT_NE(at, std::string::npos);
  std::ofstream(directory.path() + "/popdist-agent.service")
      << text.replace(at, installed.size(), POP_BIN_DIR "/popdist-agent");
  const std::string said = directory.path() + "/said";
  EXPECT_EQ(
      std::system(("systemd-analyze verify " + directory.path() + "/popdist-agent.service >" + said + " 2>&1")
                      .c_str()),
      0);
  EXPECT_EQ(fileText(said), "") << "also what it only warns of";
}

}  // namespace
}  // namespace pop::testing
