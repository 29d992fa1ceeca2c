// SPDX-License-Identifier: Apache-2.0
// --jobs and --logs of jobs whose directories are made here as a runner makes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "common/sys/fd.h"
#include "common/wire/job_codec.h"
#include "runner/store/job_directory.h"
#include "runner/store/record_store.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using runner::RecordKind;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class DetachedJobs : public ::testing::Test {
 protected:
  struct Job {
    runner::JobEntry entry;
    runner::RecordWriter records;
    sys::Fd lock;

    void write(int instance, Stream stream, const std::string& text) {
      ASSERT_TRUE(
          records.append(RecordKind::kOutput, wire::encode(wire::Output{instance, stream, text})).ok());
    }
    void note(const wire::JobEvent& event) {
      ASSERT_TRUE(records.append(RecordKind::kEvent, wire::encode(event)).ok());
    }
    void end(const JobOutcome& outcome) {
      note(outcome);
      ASSERT_TRUE(runner::writeOutcome(entry.path, wire::encode(wire::JobEvent(outcome))).ok());
      lock.reset();
    }
  };

  Job begin(const std::string& name, runner::LogBound bound = {}) const {
    model::JobSpec spec;
    spec.hosts = {{.name = "localhost"}};
    spec.programs = {{.command = {"./train", "a b"}, .num_instances = 2}};
    spec.num_instances = 2;
    spec.num_replicas = 2;
    const runner::JobDirectories directories(state_.path() + "/poprun/jobs");
    Result<runner::JobEntry> entry = directories.create(name, wire::encode(spec));
    EXPECT_TRUE(entry.ok()) << entry.status().message();
    Result<sys::Fd> lock = runner::lockJob(entry->path);
    Result<runner::RecordWriter> records = runner::RecordWriter::open(entry->path, bound);
    Job job{*entry, std::move(*records), std::move(*lock)};
    job.note(wire::Placed{{{.host = "h1", .binding = {}}, {.host = "h2", .binding = {}}}});
    return job;
  }

  const std::string& statePath() const { return state_.path(); }

  Outcome poprun(std::vector<std::string> options) const {
    return run({.options = std::move(options), .environment = {{"XDG_STATE_HOME", state_.path()}}});
  }

 private:
  TempDir state_;
};

JobOutcome failedWith(int code) {
  return {.exit_code = code,
          .failure = Failure{.instance = 1,
                             .pid = 712,
                             .reason = "exited with code " + std::to_string(code),
                             .exit_code = code,
                             .host = "h2"},
          .instances_stopped = 1};
}

TEST_F(DetachedJobs, AreListedWithHowTheyAre) {
  EXPECT_EQ(poprun({"--jobs"}).out, "no detached jobs\n");
  EXPECT_EQ(poprun({"--jobs", "--json"}).out, "[]\n");
  begin("first").end(failedWith(3));
  begin("lost").lock.reset();
  const Job running = begin("");
  const Outcome table = poprun({"--jobs"});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_EQ(table.err, "");
  const std::vector<std::string> lines = linesOf(table.out);
  ASSERT_EQ(lines.size(), 4U) << table.out;
  EXPECT_THAT(lines[1], ContainsRegex("^1   first  ended    3     [0-9 :-]+  [0-9]+ s  +./train 'a b'$"));
  EXPECT_THAT(lines[2], ContainsRegex("^2   lost   lost     -     .*  ./train 'a b'$"));
  EXPECT_THAT(lines[3], ContainsRegex("^3   -      running  -     .*  ./train 'a b'$"));
  EXPECT_THAT(
      poprun({"--jobs", "--json"}).out,
      AllOf(StartsWith("[\n  {\"id\":1,\"name\":\"first\",\"state\":\"ended\",\"exit_code\":3,\"begun\":\""),
            HasSubstr("\"programs\":[[\"./train\",\"a b\"]],\"directory\":\"" + running.entry.path)));
}

TEST_F(DetachedJobs, ThatCannotBeReadAreListedToo) {
  Job job = begin("");
  std::ofstream(job.entry.path + "/spec") << "of another version";
  job.end({});
  EXPECT_THAT(poprun({"--jobs"}).out, ContainsRegex("\n1   -     ended  -     .*  \\?\n"));
  EXPECT_EQ(poprun({"--logs", "1"}).exit_code, 125);
}

TEST_F(DetachedJobs, HaveTheirOutputInTheLogByTheOptionsOfTheReader) {
  Job job = begin("train");
  job.write(0, Stream::kStdout, "to stdout\n");
  job.write(1, Stream::kStderr, "to stderr\n");
  job.note(wire::Said{"poprun: of the runner"});
  job.end(failedWith(3));
  const Outcome log = poprun({"--logs", "train"});
  EXPECT_EQ(log.exit_code, 0) << "whatever the job's";
  EXPECT_EQ(log.out, "[0] to stdout\n");
  EXPECT_THAT(
      log.err,
      AllOf(StartsWith("[1] to stderr\npoprun: of the runner\npoprun: instance 1 of ./train (pid 712) "
                       "exited with code 3; the other instance was stopped\n"),
            HasSubstr("its last lines on stderr:\n    to stderr\n")));
  EXPECT_EQ(poprun({"--logs", "1", "--tag-output", "host"}).out, "h1:0: to stdout\n");
  EXPECT_EQ(poprun({"--logs", "1", "-f", "--tag-output=no"}).out, "to stdout\n") << "it has ended";
  EXPECT_EQ(poprun({"--logs", "1", "--only-stdout-from-instance", "1"}).out, "");
  EXPECT_THAT(poprun({"--logs", "1", "--only-stdout-from-instance", "2"}).err,
              StartsWith("poprun: --only-stdout-from-instance 2: there are only instances 0 to 1"));
}

TEST_F(DetachedJobs, SayWhatTheirLogDropped) {
  Job job = begin("", {.bytes = 4 << 20, .kept_first = 1 << 20, .segment_bytes = 1 << 20});
  const std::string line(99'999, 'x');
  for (int i = 0; i < 100; ++i) job.write(0, Stream::kStdout, line + '\n');
  job.end({});
  const Outcome log = poprun({"--logs", "1", "--tag-output", "no"});
  EXPECT_EQ(log.exit_code, 0);
  EXPECT_THAT(log.err,
              ContainsRegex("^poprun: [0-9]\\.[0-9] MB of output was dropped here \\(--log-limit\\)\n$"));
  EXPECT_THAT(linesOf(log.out), ::testing::Each(line));
  EXPECT_LT(log.out.size(), 5U << 20);
}

TEST_F(DetachedJobs, ThatAreLostSaySo) {
  Job job = begin("");
  job.write(0, Stream::kStdout, "the last\n");
  job.lock.reset();
  for (const char* follow : {"--tag-output=no", "--follow"}) {
    const Outcome log = poprun({"--logs", "1", follow});
    EXPECT_EQ(log.exit_code, 0);
    EXPECT_THAT(log.out, HasSubstr("the last\n"));
    EXPECT_EQ(log.err, "poprun: the runner of job 1 was killed, and the job with it\n");
  }
}

TEST_F(DetachedJobs, OfWhichOnlyTheOutcomeWasStoredHaveEnded) {
  Job job = begin("");
  ASSERT_TRUE(runner::writeOutcome(job.entry.path, wire::encode(wire::JobEvent(failedWith(3)))).ok());
  job.lock.reset();
  const Outcome attached = poprun({"--attach", "1"});
  EXPECT_EQ(attached.exit_code, 3);
  EXPECT_THAT(attached.err, StartsWith("poprun: instance 1 of ./train (pid 712) exited with code 3"));
}

TEST_F(DetachedJobs, WhoseRunnerDoesNotListenYetAreWaitedFor) {
  Job job = begin("");
  job.write(0, Stream::kStdout, "a line\n");
  PoprunProcess log({.options = {"--logs", "1", "-f", "--tag-output=no"},
                     .environment = {{"XDG_STATE_HOME", statePath()}}});
  ASSERT_TRUE(log.waitFor([&] { return log.out() == "a line\n"; }));
  job.write(0, Stream::kStdout, "another\n");
  job.end({});
  EXPECT_EQ(log.wait(), 0);
  EXPECT_EQ(log.out(), "a line\nanother\n");
  EXPECT_EQ(log.err(), "");
}

TEST_F(DetachedJobs, ThatAreNotThereAreAMistake) {
  const Job running = begin("train");
  const Outcome log = poprun({"--logs", "7"});
  EXPECT_EQ(log.exit_code, 125);
  EXPECT_EQ(log.out, "");
  EXPECT_THAT(log.err, AllOf(StartsWith("poprun: there is no job '7'"), HasSubstr("train")));
  const Outcome mistakes = poprun({"--jobs", "--logs", "1", "./train"});
  EXPECT_EQ(mistakes.exit_code, 125);
  EXPECT_EQ(mistakes.err,
            "poprun: --jobs and --logs exclude each other: give only one\n"
            "poprun: --jobs starts no program: leave out './train'\n");
}

// Here the other host is this one, reached by a program that runs its last word.
TEST_F(DetachedJobs, OfAnotherHostAreShownByThePoprunThere) {
  const TempDir directory;
  const std::string rsh = directory.path() + "/rsh";
  std::ofstream(rsh) << "#!/bin/sh\necho \"$1\" >&2\nfor command; do :; done\nPATH=$(dirname " << POPRUN_PATH
                     << "):$PATH exec sh -c \"$command\"\n";
  std::filesystem::permissions(rsh, std::filesystem::perms::owner_all);
  Job job = begin("train");
  job.write(1, Stream::kStdout, "a line\n");
  job.end({});
  const Outcome log = poprun({"--logs", "me@h1:train", "-f", "--tag-output", "host", "--rsh", rsh});
  EXPECT_EQ(log.exit_code, 0);
  EXPECT_EQ(log.out, "h2:1: a line\n");
  EXPECT_EQ(log.err, "me@h1\n");
  EXPECT_EQ(poprun({"--jobs", "h1:", "--rsh", rsh}).out, poprun({"--jobs"}).out);
  EXPECT_EQ(poprun({"--logs", "h1:7", "--rsh", rsh}).exit_code, 125);
  EXPECT_EQ(poprun({"--jobs", "h1:", "--rsh", "false"}).exit_code, 1) << "that program's";
}

}  // namespace
}  // namespace pop::testing
