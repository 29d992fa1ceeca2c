// SPDX-License-Identifier: Apache-2.0
// Jobs that popctl shows: as poprun shows its own, also when the daemon goes away and comes back.
#include <csignal>

#include "tests/integration/popctl/popctl_fixture.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Each number's count of lines on which it stands alone, but for its tag.
std::map<int, int> numbersIn(const std::string& text) {
  std::map<int, int> counts;
  for (const std::string& line : linesOf(text)) {
    const std::size_t at = line.find_last_of(" >");
    ++counts[std::atoi(line.c_str() + (at == std::string::npos ? 0 : at + 1))];
  }
  return counts;
}

class PopctlStreams : public PopctlTest {
 protected:
  // Each record a line of its own.
  void addLines(int first, int count) {
    for (int i = 0; i < count; ++i) daemon.addOutput(12, i % 2, std::to_string(first + i) + '\n');
  }
  void startBoth() {
    daemon.addEvent(12, LogEntry{.text = "starting", .kind = EventKind::kJobStarting});
    for (const int instance : {0, 1}) {
      daemon.addEvent(12, LogEntry{.instance = instance, .kind = EventKind::kInstanceStarted});
    }
  }
  static bool shows(PoprunProcess& process, const std::string& text) {
    return process.waitFor([&] { return process.out().find(text) != std::string::npos; });
  }
  static bool says(PoprunProcess& process, const std::string& text) {
    return process.waitFor([&] { return process.err().find(text) != std::string::npos; });
  }
};

TEST_F(PopctlStreams, AttachShowsTagsAndSummaryAndExitsAsTheJob) {
  daemon.addJob(12);
  startBoth();
  daemon.addOutput(12, 0, "from zero\n");
  daemon.addOutput(12, 1, "from one\n");
  daemon.addEvent(
      12, JobOutcome{
              .exit_code = 3,
              .failure = Failure{
                  .instance = 1, .pid = 42, .reason = "exited with code 3", .exit_code = 3, .host = "h0"}});
  const Outcome attached = popctl({"attach", "job", "12"});
  EXPECT_EQ(attached.exit_code, 3);
  EXPECT_THAT(linesOf(attached.out), Contains(AllOf(HasSubstr("1"), HasSubstr("from one"))));
  EXPECT_THAT(attached.err,
              AllOf(HasSubstr("instance 1 of ./train (pid 42) exited with code 3"), HasSubstr("h0")));
  const Outcome untagged = popctl({"attach", "job", "12", "--tag-output", "no"});
  EXPECT_THAT(linesOf(untagged.out), Contains("from one"));
}

TEST_F(PopctlStreams, SummaryHasWhatTheJobWasSubmittedWith) {
  v1::JobInfo& job = daemon.addJob(12);
  job.mutable_shown()->add_programs()->add_command("./served");
  job.mutable_shown()->mutable_programs(0)->set_num_instances(2);
  job.mutable_shown()->set_num_instances(2);
  job.mutable_shown()->set_timeout_ms(90000);
  daemon.addEvent(12, JobOutcome{.exit_code = 124, .timed_out = true});
  const Outcome attached = popctl({"attach", "job", "12"});
  EXPECT_EQ(attached.exit_code, 124);
  EXPECT_THAT(attached.err, HasSubstr("within 90 s"));
}

TEST_F(PopctlStreams, LogsPrintWhatThereIsAndExitWithZero) {
  daemon.addJob(12);
  addLines(0, 10);
  const Outcome logs = popctl({"logs", "job", "12"});
  EXPECT_EQ(logs.exit_code, 0);
  EXPECT_EQ(numbersIn(logs.out).size(), 10U);
  EXPECT_EQ(numbersIn(popctl({"logs", "job", "12", "--since-sequence", "8"}).out).size(), 3U);
  daemon.endJob(12, 5);
  EXPECT_EQ(popctl({"logs", "job", "12", "-f"}).exit_code, 0);
}

TEST_F(PopctlStreams, LogsWriteFiles) {
  daemon.addJob(12);
  daemon.addOutput(12, 1, "into a file\n");
  daemon.endJob(12, 0);
  const std::string directory = home() + "/logs";
  EXPECT_EQ(popctl({"logs", "job", "12", "--output-filename", directory}).exit_code, 0);
  EXPECT_EQ(std::system(("grep -rq 'into a file' " + directory).c_str()), 0);
}

TEST_F(PopctlStreams, NothingIsLostOrDoubledWhenTheDaemonIsKilledAndComesBack) {
  daemon.addJob(12);
  startBoth();
  PoprunProcess attached(setupOf({"attach", "job", "12"}));
  int next = 1000;
  for (int round = 0; round < 3; ++round) {
    addLines(next, 200);
    next += 200;
    ASSERT_TRUE(shows(attached, std::to_string(next - 1)));
    daemon.stop();
    addLines(next, 50);
    next += 50;
    daemon.start();
  }
  ASSERT_TRUE(shows(attached, std::to_string(next - 1)));
  daemon.endJob(12, 9);
  EXPECT_EQ(attached.wait(), 9);
  const std::map<int, int> counts = numbersIn(attached.out());
  for (int i = 1000; i < next; ++i) EXPECT_EQ(counts.contains(i) ? counts.at(i) : 0, 1) << i;
  const std::string& err = attached.err();
  EXPECT_THAT(err, HasSubstr("reconnecting"));
  EXPECT_EQ(err.find("reconnecting"), err.rfind("reconnecting")) << "says it once";
}

TEST_F(PopctlStreams, NothingIsLostOrDoubledWhereEachStreamBreaksInTheMiddle) {
  daemon.addJob(12);
  addLines(0, 40);
  daemon.endJob(12, 0);
  daemon.breakStreamsAfter(16);
  const Outcome logs = popctl({"logs", "job", "12", "-f"});
  EXPECT_EQ(logs.exit_code, 0) << logs.err;
  const std::map<int, int> counts = numbersIn(logs.out);
  EXPECT_EQ(counts.size(), 40U);
  for (const auto& [number, count] : counts) EXPECT_EQ(count, 1) << number;
  EXPECT_THAT(daemon.logsFrom(), ElementsAre(0U, 17U, 33U));
  const Outcome json = popctl({"--json", "logs", "job", "12", "-f"});
  EXPECT_EQ(linesOf(json.out).size(), 41U);
}

TEST_F(PopctlStreams, AConnectionThatStaysLostEndsTheShowingButNotTheJob) {
  daemon.addJob(12);
  addLines(7, 1);
  PoprunProcess attached(setupOf({"--reconnect", "1", "attach", "job", "12"}));
  PoprunProcess waiting(setupOf({"--reconnect", "1", "wait", "job", "12"}));
  ASSERT_TRUE(shows(attached, "7"));
  daemon.stop();
  EXPECT_EQ(attached.wait(), 4);
  EXPECT_THAT(attached.err(), HasSubstr("the job goes on"));
  EXPECT_EQ(waiting.wait(), 4);
  EXPECT_THAT(waiting.err(), HasSubstr("the job goes on"));
  daemon.start();
}

TEST_F(PopctlStreams, AJobWithoutALastRecordEndsAsTheDaemonSays) {
  daemon.addJob(12);
  daemon.addOutput(12, 0, "last words\n");
  PoprunProcess attached(setupOf({"attach", "job", "12"}));
  ASSERT_TRUE(shows(attached, "last words"));
  daemon.endJob(12, 125, false);
  EXPECT_EQ(attached.wait(), 125);
  EXPECT_THAT(attached.err(), HasSubstr("job 12 was lost"));
}

TEST_F(PopctlStreams, CtrlCEndsOnlyTheShowing) {
  daemon.addJob(12);
  addLines(7, 1);
  PoprunProcess attached(setupOf({"attach", "job", "12"}));
  ASSERT_TRUE(shows(attached, "7"));
  attached.signal(SIGINT);
  EXPECT_EQ(attached.wait(), 0);
  EXPECT_THAT(attached.err(), HasSubstr("popctl attach job 12"));
  EXPECT_THAT(daemon.signals(), IsEmpty());
}

TEST_F(PopctlStreams, WithControlSignalsReachTheJob) {
  daemon.addJob(12);
  addLines(7, 1);
  PoprunProcess attached(setupOf({"attach", "job", "12", "--control"}));
  ASSERT_TRUE(shows(attached, "7"));
  const auto hasHeard = [&](int signal) {
    return attached.waitFor([&] {
      const std::vector<int> heard = daemon.signals();
      return std::find(heard.begin(), heard.end(), signal) != heard.end();
    });
  };
  attached.signal(SIGUSR1);
  EXPECT_TRUE(hasHeard(SIGUSR1));
  attached.signal(SIGINT);
  EXPECT_TRUE(hasHeard(SIGINT));
  daemon.endJob(12, 130);
  EXPECT_EQ(attached.wait(), 130);
}

// popdistd stops jobs by SIGTERM, whatever was pressed.
TEST_F(PopctlStreams, CtrlCWithControlExitsAsPoprunDoes) {
  daemon.addJob(12);
  addLines(7, 1);
  PoprunProcess attached(setupOf({"attach", "job", "12", "--control"}));
  ASSERT_TRUE(shows(attached, "7"));
  attached.signal(SIGINT);
  ASSERT_TRUE(attached.waitFor([&] { return !daemon.signals().empty(); }));
  daemon.addEvent(12, JobOutcome{.exit_code = 143, .user_signal = SIGTERM});
  EXPECT_EQ(attached.wait(), 130);
}

TEST_F(PopctlStreams, RecordsOutOfReachAreAnErrorAtOnce) {
  daemon.addJob(12);
  const std::string why = "the output of job 12 is on host h0, which is down since 2026-11-27 19:04:49 UTC";
  const std::vector<std::pair<grpc::StatusCode, int>> codes{{grpc::StatusCode::FAILED_PRECONDITION, 4},
                                                            {grpc::StatusCode::NOT_FOUND, 3}};
  for (const auto& [code, exit_code] : codes) {
    daemon.refuseRecords({code, why});
    for (const Words& words :
         {Words{"logs", "job", "12"}, Words{"logs", "job", "12", "-f"}, Words{"attach", "job", "12"},
          Words{"logs", "job", "12", "--json"}, Words{"attach", "job", "12", "--control"}}) {
      const Outcome outcome = popctl(words);
      EXPECT_EQ(outcome.exit_code, exit_code) << words[0] << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr(why));
    }
  }
}

TEST_F(PopctlStreams, ATimeoutEndsTheShowing) {
  daemon.addJob(12);
  for (const Words& words : {Words{"logs", "job", "12", "-f", "--timeout", "0.3"},
                             Words{"attach", "job", "12", "--timeout", "0.3"},
                             Words{"logs", "job", "12", "-f", "--json", "--timeout", "0.3"}}) {
    const Outcome outcome = popctl(words);
    EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("--timeout"));
  }
}

TEST_F(PopctlStreams, AReaderThatDoesNotReadHoldsTheStreamUpAndLosesNothing) {
  daemon.addJob(12);
  for (int i = 0; i < 200; ++i) daemon.addOutput(12, 0, std::string(64 << 10, 'x') + '\n');
  daemon.endJob(12, 0);
  PoprunProcess logs(setupOf({"logs", "job", "12", "-f"}));
  logs.pauseReading();
  ASSERT_TRUE(logs.waitFor([&] { return logs.outputFull(); }));
  logs.resumeReading();
  EXPECT_EQ(logs.wait(), 0);
  EXPECT_EQ(linesOf(logs.out()).size(), 200U);
}

}  // namespace
}  // namespace pop::testing
