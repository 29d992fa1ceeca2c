// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>

namespace pop {
namespace {

model::JobSpec jobOf(int instances) {
  return {.programs = {{.command = {"./train", "--data"}, .num_instances = instances}},
          .num_instances = instances,
          .num_replicas = instances};
}

JobOutcome failed(const Failure& failure, int others_stopped = 0) {
  return {.exit_code = failure.exit_code, .failure = failure, .instances_stopped = others_stopped};
}

// The sentence alone.
std::string firstLineOf(const JobOutcome& outcome, const model::JobSpec& spec) {
  const std::string text = summaryOf(outcome, spec, {});
  return text.substr(0, text.find('\n') + 1);
}

TEST(Summary, OfSuccessIsSilent) {
  EXPECT_EQ(firstLineOf({}, jobOf(4)), "");
}

TEST(Summary, NamesTheInstanceThatFailedFirst) {
  const Failure crash{.instance = 2, .pid = 71, .reason = "was killed by SIGSEGV", .exit_code = 139};
  EXPECT_EQ(
      firstLineOf(failed(crash, 3), jobOf(4)),
      "poprun: instance 2 of ./train (pid 71) was killed by SIGSEGV; the other 3 instances were stopped\n");
}

TEST(Summary, CountsThoseThatWereStopped) {
  const Failure exit{.instance = 0, .pid = 71, .reason = "exited with code 3", .exit_code = 3};
  EXPECT_EQ(firstLineOf(failed(exit, 1), jobOf(2)),
            "poprun: instance 0 of ./train (pid 71) exited with code 3; the other instance was stopped\n");
  EXPECT_EQ(firstLineOf(failed(exit), jobOf(2)),
            "poprun: instance 0 of ./train (pid 71) exited with code 3\n");
  EXPECT_EQ(firstLineOf(failed(exit, 1), jobOf(4)),
            "poprun: instance 0 of ./train (pid 71) exited with code 3; 1 other instance was stopped\n");
  EXPECT_EQ(firstLineOf(failed(exit, 2), jobOf(4)),
            "poprun: instance 0 of ./train (pid 71) exited with code 3; 2 other instances were stopped\n");
  model::JobSpec job = jobOf(3);
  job.timeout = std::chrono::seconds(1);
  const std::string late = "poprun: the job did not end within 1 s (--timeout)";
  const auto lateWith = [&](int stopped) {
    return firstLineOf({.exit_code = 124, .timed_out = true, .instances_stopped = stopped}, job);
  };
  EXPECT_EQ(lateWith(3), late + "; all instances were stopped\n");
  EXPECT_EQ(lateWith(2), late + "; 2 instances were stopped\n");
  EXPECT_EQ(lateWith(1), late + "; 1 instance was stopped\n");
  EXPECT_EQ(lateWith(0), late + '\n');
}

TEST(Summary, OfATimeLimitSaysThatHostsHadNotAnswered) {
  model::JobSpec job = jobOf(3);
  job.timeout = std::chrono::seconds(1);
  EXPECT_EQ(firstLineOf({.exit_code = 124, .timed_out = true, .hosts_unanswered = 2}, job),
            "poprun: the job did not end within 1 s (--timeout); 2 hosts had not answered\n");
}

TEST(Summary, OfAProgramThatCouldNotStartNamesNoPid) {
  const Failure missing{.instance = 0,
                        .reason = "could not be started: './train': No such file or directory",
                        .exit_code = 127};
  EXPECT_EQ(firstLineOf(failed(missing), jobOf(4)),
            "poprun: instance 0 of ./train could not be started: './train': No such file or directory\n");
}

TEST(Summary, OfAJobThatFailedAsAWholeReadsAsASentence) {
  const Failure nowhere{.reason = "cannot be bound on host node1: CPU 9 may not be used", .exit_code = 125};
  EXPECT_EQ(firstLineOf(failed(nowhere), jobOf(2)),
            "poprun: the job cannot be bound on host node1: CPU 9 may not be used\n");
}

TEST(Summary, NamesTheHostsThatWereLost) {
  Failure lost{.reason = "host node1 was lost: it has been silent for 5 s",
               .exit_code = 125,
               .hosts_lost = true,
               .instances_lost = 1};
  EXPECT_EQ(summaryOf(failed(lost, 3), jobOf(4), {}),
            "poprun: host node1 was lost: it has been silent for 5 s; the other 3 instances were stopped\n");
  EXPECT_EQ(summaryOf(failed(lost), jobOf(1), {}),
            "poprun: host node1 was lost: it has been silent for 5 s\n");
  lost.reason = "the job cannot be placed on host node1: refused";
  lost.instances_lost = 0;
  EXPECT_EQ(summaryOf(failed(lost), jobOf(4), {}),
            "poprun: the job cannot be placed on host node1: refused\n");
}

TEST(Summary, SaysWhyTheJobDoesNotStartAgain) {
  JobOutcome outcome = failed(
      {.reason = "host node1 was lost: refused", .exit_code = 125, .hosts_lost = true, .instances_lost = 4});
  outcome.restarts = 1;
  outcome.why_not_again = "none of its hosts is left";
  EXPECT_EQ(
      summaryOf(outcome, jobOf(4), {}),
      "poprun: host node1 was lost: refused, after 1 restart; it is not started again: none of its hosts is "
      "left\n");
}

TEST(Summary, NamesTheHostOfTheInstance) {
  const Failure crash{
      .instance = 2, .pid = 71, .reason = "was killed by SIGSEGV", .exit_code = 139, .host = "node1"};
  EXPECT_THAT(
      summaryOf(failed(crash, 3), jobOf(4), {}),
      ::testing::StartsWith("poprun: instance 2 of ./train (pid 71) was killed by SIGSEGV; the other 3 "
                            "instances were stopped\n"
                            "  on node1, "));
}

TEST(Summary, SaysWhenItWasAndTheLastErrors) {
  const Failure crash{
      .instance = 0, .pid = 71, .reason = "exited with code 1", .exit_code = 1, .host = "localhost"};
  const SummaryFacts facts{.after = std::chrono::milliseconds(12345),
                           .last_errors = {"Traceback:", "\tline \x1b[1;31mred\x1b[0m\x1b[2J\a"}};
  const std::string text = summaryOf(failed(crash), jobOf(1), facts);
  EXPECT_THAT(text, ::testing::StartsWith("poprun: instance 0 of ./train (pid 71) exited with code 1\n"
                                          "  on localhost, 12.345 s after the start, at 19"));
  EXPECT_THAT(text, ::testing::EndsWith("\n  its last lines on stderr:\n"
                                        "    Traceback:\n"
                                        "        line red\\x1b[2J\\x07\n"));
}

TEST(Summary, HasNoLinesForAnInstanceThatSaidNothing) {
  const Failure crash{.instance = 0, .pid = 71, .reason = "exited with code 1", .exit_code = 1};
  EXPECT_THAT(summaryOf(failed(crash), jobOf(1), {}), ::testing::Not(::testing::HasSubstr("stderr")));
}

TEST(Summary, SaysLongTimesInFull) {
  model::JobSpec job = jobOf(1);
  job.timeout = std::chrono::hours(14 * 24);
  job.restart_delay = std::chrono::milliseconds(1'234'567'001);
  job.max_restarts = 1;
  EXPECT_EQ(firstLineOf({.exit_code = 124, .timed_out = true, .instances_stopped = 1}, job),
            "poprun: the job did not end within 1209600 s (--timeout); all instances were stopped\n");
  const Failure crash{.instance = 0, .pid = 71, .reason = "exited with code 1", .exit_code = 1};
  EXPECT_EQ(
      restartNotice(failed(crash), job, 1),
      "poprun: instance 0 of ./train (pid 71) exited with code 1; the job starts again in 1234567.001 s "
      "(restart 1 of 1)\n");
}

TEST(Summary, CannotBeFooledByTheNameOfAProgram) {
  model::JobSpec job = jobOf(1);
  job.programs[0].command = {"./a\n\x1b[2J"};
  const Failure crash{.instance = 0, .pid = 71, .reason = "exited with code 1", .exit_code = 1};
  EXPECT_EQ(firstLineOf(failed(crash), job),
            "poprun: instance 0 of ./a\\x0a\\x1b[2J (pid 71) exited with code 1\n");
}

TEST(Summary, CannotBeFooledByWhatAHostSays) {
  const Failure crash{.instance = 0, .pid = 71, .reason = "fell\n\x1b[2J", .exit_code = 1, .lost = true};
  EXPECT_EQ(firstLineOf(failed(crash), jobOf(1)),
            "poprun: instance 0 of ./train (pid 71) fell\\x0a\\x1b[2J\n");
  const JobOutcome late{.exit_code = 124,
                        .timed_out = true,
                        .stack_traces = {{.instance = 0, .pid = 71, .text = "thread 'a\x1b[2J'\n\tmain\n"}}};
  EXPECT_THAT(summaryOf(late, jobOf(1), {}),
              ::testing::EndsWith("):\n    thread 'a\\x1b[2J'\n        main\n"));
}

TEST(Summary, NamesTheHostOfEachStackWhereThereAreSeveral) {
  model::JobSpec job = jobOf(2);
  job.hosts = {{"h0"}, {"h1"}};
  const JobOutcome late{.exit_code = 124,
                        .timed_out = true,
                        .stack_traces = {{.instance = 0, .pid = 71, .text = "main\n", .host = "h0"},
                                         {.instance = 1, .pid = 9, .text = "main\n", .host = "h1"}}};
  EXPECT_THAT(summaryOf(late, job, {}),
              ::testing::EndsWith("poprun: stack of instance 0 (pid 71 on h0):\n    main\n"
                                  "poprun: stack of instance 1 (pid 9 on h1):\n    main\n"));
}

TEST(Summary, OfHostsHasALineForEachReason) {
  const Failure lost{.reason = "the job cannot be placed on host a: r1\n  host b: r2\x1b[2J",
                     .exit_code = 125,
                     .hosts_lost = true};
  EXPECT_EQ(summaryOf(failed(lost), jobOf(4), {}),
            "poprun: the job cannot be placed on host a: r1\n  host b: r2\\x1b[2J\n");
}

TEST(Summary, SaysWhatWasTakenForAProgramThatIsNotThere) {
  const Failure missing{
      .instance = 0, .reason = "could not be started: 'zebra': No such file or directory", .exit_code = 127};
  const SummaryFacts facts{.program_hint = "'zebra' was taken for the program"};
  EXPECT_EQ(summaryOf(failed(missing), jobOf(1), facts),
            "poprun: instance 0 of ./train could not be started: 'zebra': No such file or directory "
            "('zebra' was taken for the program)\n");
  const Failure other{.instance = 0, .pid = 7, .reason = "exited with code 1", .exit_code = 1};
  EXPECT_THAT(summaryOf(failed(other), jobOf(1), facts), ::testing::Not(::testing::HasSubstr("zebra")));
}

TEST(Summary, OfTheUsersOwnDoingIsSilentOrShort) {
  EXPECT_EQ(firstLineOf({.exit_code = 130, .user_signal = SIGINT}, jobOf(4)), "");
  EXPECT_EQ(firstLineOf({.exit_code = 141, .user_signal = SIGPIPE}, jobOf(4)), "") << "its reader has gone";
  EXPECT_EQ(firstLineOf({.exit_code = 143, .user_signal = SIGTERM, .instances_stopped = 4}, jobOf(4)),
            "poprun: ended by SIGTERM; all instances were stopped\n");
}

TEST(Summary, OfAFailureIsNotHiddenByTheUsersImpatience) {
  const Failure exit{.instance = 0, .pid = 71, .reason = "exited with code 3", .exit_code = 3};
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_EQ(firstLineOf({.exit_code = 128 + signal, .user_signal = signal, .failure = exit}, jobOf(1)),
              "poprun: instance 0 of ./train (pid 71) exited with code 3\n");
  }
}

}  // namespace
}  // namespace pop
