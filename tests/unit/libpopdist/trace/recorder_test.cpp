// SPDX-License-Identifier: Apache-2.0
// Files of traces, which are read back as a viewer reads them.
#include "libpopdist/trace/recorder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/trace/trace_events.h"

namespace popdist::trace {
namespace {

using std::chrono::milliseconds;

std::vector<pop::JsonValue> spansIn(const std::string& path) {
  std::vector<pop::JsonValue> spans = eventsOf(path);
  std::erase_if(spans, [](const pop::JsonValue& event) { return textOf(event, "ph") != "X"; });
  return spans;
}

class TraceRecorder : public ::testing::Test {
 protected:
  pop::testing::TempDir directory_;
  const std::string traces_ = directory_ / "traces";
  const Moment now_ = std::chrono::steady_clock::now();
};

TEST_F(TraceRecorder, WritesSpansOfAllThreadsWithTheirTimes) {
  Recorder recorder(traces_);
  recorder.setInstance(3);
  recorder.setInstance(4);  // too late
  recorder.add(Kind::kTraining, "step", now_, now_ + milliseconds(2));
  std::thread([&] {
    recorder.add(Kind::kProgram, "decode", now_ + milliseconds(1), now_ + milliseconds(5));
  }).join();
  recorder.flush();
  const auto spans = spansIn(traces_ + "/instance-3.json");
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(textOf(spans[0], "name"), "step");
  EXPECT_EQ(textOf(spans[0], "cat"), "training");
  EXPECT_EQ(numberOf(spans[0], "pid"), 3);
  EXPECT_EQ(numberOf(spans[0], "dur"), 2000);
  EXPECT_EQ(textOf(spans[1], "name"), "decode");
  EXPECT_EQ(textOf(spans[1], "cat"), "program");
  EXPECT_NE(numberOf(spans[1], "tid"), numberOf(spans[0], "tid"));
  EXPECT_NEAR(numberOf(spans[1], "ts") - numberOf(spans[0], "ts"), 1000, 0.01);
}

TEST_F(TraceRecorder, NamesProcessAndThreads) {
  Recorder recorder(traces_);
  recorder.setInstance(0);
  recorder.add(Kind::kProgram, "a", now_, now_);
  recorder.flush();
  std::vector<std::string> names;
  for (const pop::JsonValue& event : eventsOf(traces_ + "/instance-0.json"))
    if (textOf(event, "ph") == "M") names.push_back(textOf(event, "name"));
  EXPECT_EQ(names, (std::vector<std::string>{"process_name", "thread_name"}));
}

TEST_F(TraceRecorder, WithoutAnInstanceHasTheNameOfTheProcess) {
  Recorder recorder(traces_);
  recorder.add(Kind::kProgram, "a", now_, now_);
  recorder.flush();
  EXPECT_EQ(spansIn(traces_ + "/process-" + std::to_string(::getpid()) + ".json").size(), 1U);
}

TEST_F(TraceRecorder, FileIsValidAfterEachWriteOfAProcessThatIsKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    Recorder recorder(traces_);
    recorder.setInstance(0);
    for (int i = 0; i < 10'000; ++i) recorder.add(Kind::kProgram, "\"\xff\n", now_, now_);
    std::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto spans = spansIn(traces_ + "/instance-0.json");
  EXPECT_EQ(spans.size(), 8192U);
  EXPECT_EQ(textOf(spans.back(), "name"), "\"\xEF\xBF\xBD\n");
}

TEST_F(TraceRecorder, FileThatAnotherProcessWritesIsLeftAlone) {
  Recorder training(traces_);
  Recorder evaluator(traces_);
  for (Recorder* each : {&training, &evaluator}) {
    each->setInstance(0);
    each->add(Kind::kProgram, each == &training ? "train" : "evaluate", now_, now_);
    each->flush();
  }
  EXPECT_EQ(textOf(spansIn(traces_ + "/instance-0.json").at(0), "name"), "train");
  const std::string other = traces_ + "/instance-0-pid-" + std::to_string(::getpid()) + ".json";
  EXPECT_EQ(textOf(spansIn(other).at(0), "name"), "evaluate");
}

TEST_F(TraceRecorder, RestartedJobKeepsWhatCameBefore) {
  for (const char* count : {"0", "1"}) {
    ::setenv("POPDIST_RESTART_COUNT", count, 1);
    Recorder recorder(traces_);
    recorder.setInstance(0);
    recorder.add(Kind::kProgram, count, now_, now_);
    recorder.flush();
  }
  ::unsetenv("POPDIST_RESTART_COUNT");
  EXPECT_EQ(textOf(spansIn(traces_ + "/instance-0.json").at(0), "name"), "0");
  EXPECT_EQ(textOf(spansIn(traces_ + "/instance-0-restart-1.json").at(0), "name"), "1");
}

TEST_F(TraceRecorder, SpanOfMoreThanASecondIsWrittenAtOnce) {
  Recorder recorder(traces_);
  recorder.setInstance(0);
  recorder.add(Kind::kProgram, "import", now_ - milliseconds(1001), now_);
  EXPECT_EQ(spansIn(traces_ + "/instance-0.json").size(), 1U);
}

TEST_F(TraceRecorder, ForkedChildWritesNothing) {
  Recorder recorder(traces_);
  recorder.setInstance(0);
  recorder.add(Kind::kProgram, "of the parent", now_, now_);
  const pid_t child = ::fork();
  if (child == 0) {
    recorder.add(Kind::kProgram, "of the child", now_, now_);
    recorder.flush();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  recorder.flush();
  ASSERT_EQ(status, 0);
  ASSERT_EQ(spansIn(traces_ + "/instance-0.json").size(), 1U);
}

TEST_F(TraceRecorder, EndsAtItsMostBytesAndSaysSoOnce) {
  Recorder recorder(traces_, 1 << 20);
  recorder.setInstance(0);
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 20'000; ++i) recorder.add(Kind::kProgram, "a", now_, now_);
  recorder.flush();
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_NE(said.find("has reached 1 MiB"), std::string::npos) << said;
  EXPECT_EQ(spansIn(traces_ + "/instance-0.json").size() % 4096, 0U);
  EXPECT_FALSE(spansIn(traces_ + "/instance-0.json").empty());
}

TEST_F(TraceRecorder, DirectoryThatCannotBeMadeIsSaidOnce) {
  const std::string file = directory_ / "file";
  std::ofstream{file} << "text";
  Recorder recorder(file + "/traces");
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    recorder.add(Kind::kProgram, "a", now_, now_);
    recorder.flush();
  }
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_NE(said.find("POPDIST_TRACE"), std::string::npos) << said;
  EXPECT_NE(said.find(file + "/traces"), std::string::npos) << said;
}

TEST_F(TraceRecorder, FullDeviceIsSaid) {
  std::filesystem::create_directory(traces_);
  std::filesystem::create_symlink("/dev/full", traces_ + "/instance-0.json");
  Recorder recorder(traces_);
  recorder.setInstance(0);
  ::testing::internal::CaptureStderr();
  recorder.add(Kind::kProgram, "a", now_, now_);
  recorder.flush();
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("No space left"), std::string::npos);
}

}  // namespace
}  // namespace popdist::trace
