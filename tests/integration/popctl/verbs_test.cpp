// SPDX-License-Identifier: Apache-2.0
// Each verb: what it asks, what it prints, its exit code.
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/integration/popctl/popctl_fixture.h"
#include "tests/testing/file_text.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(PopctlTest, ListsJobsTheNewestFirstUnderBothNouns) {
  daemon.addJob(7, "train");
  daemon.addJob(12);
  const Outcome jobs = popctl({"list", "jobs"});
  EXPECT_EQ(jobs.exit_code, 0) << jobs.err;
  ASSERT_EQ(linesOf(jobs.out).size(), 3U) << jobs.out;
  EXPECT_THAT(linesOf(jobs.out)[0], HasSubstr("STATE"));
  EXPECT_THAT(linesOf(jobs.out)[1], AllOf(HasSubstr("12"), HasSubstr("running"), HasSubstr("./train")));
  EXPECT_THAT(linesOf(jobs.out)[2], AllOf(HasSubstr("7 "), HasSubstr("train"), HasSubstr("alice")));
  EXPECT_EQ(linesOf(popctl({"list", "job", "--name", "train"}).out).size(), 2U);
}

TEST_F(PopctlTest, ListsAtMostTheLimitAndSaysSo) {
  for (int id = 1; id <= 5; ++id) daemon.addJob(id);
  const Outcome some = popctl({"list", "jobs", "--limit", "3"});
  EXPECT_EQ(linesOf(some.out).size(), 4U);
  EXPECT_THAT(some.err, HasSubstr("--limit"));
  const Outcome all = popctl({"list", "jobs", "--limit", "0"});
  EXPECT_EQ(linesOf(all.out).size(), 6U);
  EXPECT_THAT(all.err, IsEmpty());
}

TEST_F(PopctlTest, ListsAndPrintsHosts) {
  v1::HostInfo& host = daemon.addHost("h0");
  host.set_drained(true);
  host.set_drain_reason("new disk");
  const Outcome hosts = popctl({"list", "host"});
  EXPECT_EQ(hosts.exit_code, 0);
  EXPECT_THAT(hosts.out, AllOf(HasSubstr("h0"), HasSubstr("up,drained"), HasSubstr("new disk")));
  EXPECT_THAT(popctl({"get", "host", "h0"}).out, AllOf(HasSubstr("name:"), HasSubstr("new disk")));
}

TEST_F(PopctlTest, AsksForSeveralJobsAtOnce) {
  for (const int id : {1, 2, 3}) daemon.addJob(id, id == 3 ? "other" : "train").set_state(v1::JOB_QUEUED);
  for (const char* const verb : {"hold", "release", "cancel", "forget"}) {
    const Outcome some = popctl({verb, "job", "1", "99", "2"});
    EXPECT_EQ(some.exit_code, 3) << some.err;
    EXPECT_THAT(some.out, AllOf(HasSubstr("(1): success"), HasSubstr("(2): success")));
    EXPECT_THAT(some.err, HasSubstr("99"));
    for (const int id : {1, 2}) daemon.addJob(id, "train").set_state(v1::JOB_QUEUED);
  }
  const Outcome named = popctl({"hold", "jobs", "--name", "train"});
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_THAT(named.out, AllOf(HasSubstr("(1)"), HasSubstr("(2)"), Not(HasSubstr("(3)"))));
  EXPECT_THAT(popctl({"cancel", "jobs", "--user", "alice"}).out, HasSubstr("(3)"));
  EXPECT_EQ(popctl({"hold", "job", "--name", "nothing"}).exit_code, 3);
  EXPECT_EQ(popctl({"hold", "job"}).exit_code, 2);
  EXPECT_EQ(popctl({"hold", "job", "1", "--name", "train"}).exit_code, 2);
}

TEST_F(PopctlTest, SaysItsVersion) {
  const Outcome version = popctl({"--version"});
  EXPECT_EQ(version.exit_code, 0) << version.err;
  EXPECT_THAT(version.out, ::testing::StartsWith("popctl "));
}

TEST_F(PopctlTest, PrintsAJobByNumberOrName) {
  daemon.addJob(12, "train").set_state(v1::JOB_QUEUED);
  daemon.addJob(12, "train").set_state(v1::JOB_QUEUED);
  for (const char* name : {"12", "train"}) {
    const Outcome job = popctl({"get", "job", name});
    EXPECT_EQ(job.exit_code, 0) << job.err;
    EXPECT_THAT(job.out, AllOf(HasSubstr("id:"), HasSubstr("12"), HasSubstr("./train")));
  }
}

TEST_F(PopctlTest, SaysSuccessWhereThereIsNothingElseToSay) {
  daemon.addJob(12);
  daemon.addHost("h0");
  EXPECT_EQ(popctl({"cancel", "job", "12", "--reason", "mistake"}).out, "cancel job (12): success.\n");
  EXPECT_EQ(daemon.lastReason(), "mistake");
  EXPECT_EQ(popctl({"hold", "job", "12"}).out, "hold job (12): success.\n");
  EXPECT_EQ(popctl({"release", "jobs", "12"}).out, "release job (12): success.\n");
  EXPECT_EQ(popctl({"drain", "host", "h0", "--reason", "disk"}).out, "drain host (h0): success.\n");
  EXPECT_EQ(daemon.lastReason(), "disk");
  EXPECT_EQ(popctl({"resume", "host", "h0"}).out, "resume host (h0): success.\n");
  EXPECT_EQ(popctl({"remove", "host", "h0"}).out, "remove host (h0): success.\n");
  EXPECT_EQ(popctl({"forget", "job", "12"}).out, "forget job (12): success.\n");
  daemon.addJob(13);
  EXPECT_EQ(popctl({"--quiet", "cancel", "job", "13"}).out, "");
}

TEST_F(PopctlTest, SendsSignalsByNameAndNumber) {
  daemon.addJob(12);
  for (const char* signal : {"USR1", "sigusr1", "10"})
    EXPECT_EQ(popctl({"signal", "job", "12", signal}).exit_code, 0) << signal;
  EXPECT_THAT(daemon.signals(), ElementsAre(SIGUSR1, SIGUSR1, SIGUSR1));
}

TEST_F(PopctlTest, TellsAboutTheDaemonAndItsStore) {
  EXPECT_THAT(popctl({"about"}).out, AllOf(HasSubstr("1.2.3"), HasSubstr("nobody")));
  EXPECT_THAT(popctl({"check", "store"}).out, HasSubstr("3 jobs"));
}

TEST_F(PopctlTest, TopPrintsOnceWhereThereIsNoTerminal) {
  daemon.addHost("h0");
  daemon.addJob(12);
  const Outcome top = popctl({"top"});
  EXPECT_EQ(top.exit_code, 0);
  EXPECT_THAT(top.out, AllOf(HasSubstr("1 job running"), HasSubstr("h0"), HasSubstr("./train")));
}

TEST_F(PopctlTest, BackupWritesTheWholeFileOrNone) {
  const std::string file = home() + "/store";
  EXPECT_EQ(popctl({"backup", file}).exit_code, 0);
  EXPECT_EQ(fileText(file), "chunk 0\nchunk 1\nchunk 2\n");
  std::filesystem::remove(file);
  daemon.failBackupAfter(2);
  const Outcome failed = popctl({"backup", file});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.err, HasSubstr("the disk is full"));
  EXPECT_TRUE(std::filesystem::is_empty(home()));
}

TEST_F(PopctlTest, BackupReplacesNothingButAFile) {
  const std::string pipe = home() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, home(), home() + "/nowhere/store", std::string()}) {
    const Outcome refused = popctl({"backup", path});
    EXPECT_EQ(refused.exit_code, 2) << path << ": " << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("popctl: "));
  }
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(PopctlTest, WaitExitsAsTheJobDid) {
  daemon.addJob(12);
  PoprunProcess waiting(setupOf({"wait", "job", "12"}));
  daemon.endJob(12, 7);
  EXPECT_EQ(waiting.wait(), 7);
  daemon.addJob(13);
  daemon.endJob(13, 125, false);
  const Outcome lost = popctl({"wait", "job", "13"});
  EXPECT_EQ(lost.exit_code, 125);
  EXPECT_THAT(lost.err, HasSubstr("job 13 was lost"));
}

TEST_F(PopctlTest, WaitEndsAtItsTimeout) {
  daemon.addJob(12);
  const Outcome waited = popctl({"wait", "job", "12", "--timeout", "0.05"});
  EXPECT_EQ(waited.exit_code, 4);
  EXPECT_THAT(waited.err, HasSubstr("wait job (12): failed: it has not ended within 0.05 s"));
}

TEST_F(PopctlTest, ExitCodesTellWhatIsWrong) {
  daemon.addJob(9).set_user("root");
  daemon.addJob(10).set_state(v1::JOB_QUEUED);
  EXPECT_EQ(popctl({"get", "job", "99"}).exit_code, 3);
  EXPECT_EQ(popctl({"attach", "job", "99"}).exit_code, 3);
  EXPECT_EQ(popctl({"get", "host", "h9"}).exit_code, 3);
  EXPECT_EQ(popctl({"signal", "job", "10", "TERM"}).exit_code, 1);
  for (const Words& wrong : std::vector<Words>{{},
                                               {"list"},
                                               {"list", "things"},
                                               {"get", "job"},
                                               {"drain", "host", "h0"},
                                               {"get", "job", "not a job"},
                                               {"signal", "job", "10", "SIGNOT"},
                                               {"list", "jobs", "--state", "odd"},
                                               {"list", "jobs", "more"},
                                               {"attach", "job", "10", "--num-replicas", "2"},
                                               {"completion", "csh"},
                                               {"--server", "odd:port", "about"}}) {
    const Outcome outcome = popctl(wrong);
    EXPECT_EQ(outcome.exit_code, 2) << ::testing::PrintToString(wrong) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("popctl: "));
    EXPECT_EQ(outcome.out, "");
  }
  const Outcome refused = popctl({"cancel", "job", "9"});
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_EQ(refused.err, "cancel job (9): failed: job 9 belongs to user 'root'\n");
  daemon.stop();
  const Outcome unreachable = popctl({"about"});
  EXPECT_EQ(unreachable.exit_code, 4);
  EXPECT_THAT(unreachable.err, HasSubstr(daemon.address()));
  daemon.start();
}

TEST_F(PopctlTest, JsonIsJson) {
  daemon.addJob(12, "train");
  daemon.addHost("h0");
  daemon.addOutput(12, 0, "a line\n");
  daemon.endJob(12, 0);
  for (const Words& words : std::vector<Words>{{"list", "jobs"},
                                               {"list", "hosts"},
                                               {"get", "job", "12"},
                                               {"get", "host", "h0"},
                                               {"wait", "job", "train"},
                                               {"cancel", "job", "12"},
                                               {"about"},
                                               {"check", "store"},
                                               {"forget", "job", "train"}}) {
    Words all{"--json"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = popctl(all);
    EXPECT_TRUE(isJson(outcome.out)) << ::testing::PrintToString(words) << outcome.out << outcome.err;
  }
}

TEST_F(PopctlTest, JsonOfLogsHasARecordOnEachLine) {
  daemon.addJob(12);
  daemon.addOutput(12, 0, "one\n");
  daemon.addOutput(12, 1, "two\n");
  daemon.endJob(12, 3);
  const Outcome logs = popctl({"logs", "job", "12", "--json", "-f"});
  EXPECT_EQ(logs.exit_code, 0) << logs.err;
  ASSERT_EQ(linesOf(logs.out).size(), 3U) << logs.out;
  for (const std::string& line : linesOf(logs.out)) EXPECT_TRUE(isJson(line)) << line;
  EXPECT_THAT(linesOf(logs.out)[2], HasSubstr("\"exit_code\":3"));
}

TEST_F(PopctlTest, WatchesForATimeThatIsGiven) {
  const Outcome watched = popctl({"list", "jobs", "--watch", "--timeout", "1"});
  EXPECT_EQ(watched.exit_code, 0) << watched.err;
  EXPECT_THAT(watched.err, IsEmpty());
}

TEST_F(PopctlTest, WatchPrintsTheListWheneverItChanges) {
  daemon.addJob(12);
  PoprunProcess watching(setupOf({"list", "jobs", "--watch"}));
  EXPECT_TRUE(watching.waitFor([&] { return watching.out().find("running") != std::string::npos; }));
  daemon.endJob(12, 1);
  EXPECT_TRUE(watching.waitFor([&] { return watching.out().find("failed") != std::string::npos; }));
  // Changes while there is no connection come when there is one again.
  daemon.stop();
  EXPECT_TRUE(watching.waitFor([&] { return watching.err().find("reconnecting") != std::string::npos; }));
  daemon.addJob(13, "later");
  daemon.changed(13);
  daemon.start();
  EXPECT_TRUE(watching.waitFor([&] { return watching.out().find("later") != std::string::npos; }));
  watching.signal(SIGINT);
  EXPECT_EQ(watching.wait(), -SIGINT);
}

TEST_F(PopctlTest, TakesItsServerFromAConfigurationFile) {
  std::filesystem::create_directories(home() + "/.config/popdist");
  std::ofstream(home() + "/.config/popdist/popctl.conf") << "# ours\nserver = " << daemon.address() << '\n';
  PoprunSetup setup = setupOf({"about"});
  setup.environment["POPDIST_SERVER"] = "";
  EXPECT_THAT(run(setup).out, HasSubstr(daemon.address()));
  std::ofstream(home() + "/.config/popdist/popctl.conf") << "sever=x\n";
  const Outcome wrong = run(setup);
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("popctl.conf:1"));
}

}  // namespace
}  // namespace pop::testing
