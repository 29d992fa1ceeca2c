// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/os/helper_program.h"
#include "common/os/helper_run.h"
#include "common/sys/fd.h"
#include "common/wire/job_codec.h"
#include "runner/control/runner_socket.h"
#include "runner/store/job_directory.h"
#include "runner/store/record_store.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

constexpr std::chrono::seconds kTimeout{30};

struct Ran {
  int exit_code = -1;
  std::string out;
  std::string err;
};

Ran poprun(const Words& words) {
  Words command{POPRUN_PATH};
  command.insert(command.end(), words.begin(), words.end());
  Ran ran;
  const auto ends =
      os::runInParallel({command}, 1,
                        {.started = [](std::size_t) {},
                         .printed = [&ran](std::size_t, std::string_view text) { ran.out += text; },
                         .ended =
                             [&ran](std::size_t, const os::HelperEnd& end) {
                               ran.exit_code = end.exit_code;
                               ran.err = end.errors;
                             }},
                        kTimeout);
  return ran;
}

bool holdsWithin(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + kTimeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

class Detached : public ::testing::Test {
 protected:
  Detached() {
    ::setenv("XDG_STATE_HOME", state_.path().c_str(), 1);
    ::setenv("GO", (state_.path() + "/go").c_str(), 1);
  }
  // Nothing that a test has left goes on.
  ~Detached() override {
    for (const runner::JobEntry& job : jobs()) {
      if (job.state == runner::JobState::kRunning) signalRunner(job, SIGKILL);
      holdsWithin([&] { return stateOf(job.id) != runner::JobState::kRunning; });
    }
  }

  std::vector<runner::JobEntry> jobs() const {
    const auto listed = runner::JobDirectories(state_.path() + "/poprun/jobs").list();
    return listed.ok() ? listed.value() : std::vector<runner::JobEntry>();
  }
  runner::JobState stateOf(int id) const {
    for (const runner::JobEntry& job : jobs()) {
      if (job.id == id) return job.state;
    }
    return runner::JobState::kLost;
  }
  // The process that listens at the job's socket; 0: none.
  static pid_t runnerOf(const runner::JobEntry& job) {
    const Result<sys::Fd> socket = runner::connectToRunner(job.path);
    ucred listener{};
    socklen_t bytes = sizeof(listener);
    if (!socket.ok() || ::getsockopt(socket.value().get(), SOL_SOCKET, SO_PEERCRED, &listener, &bytes) != 0)
      return 0;
    return listener.pid;
  }
  // Never a group of processes: those of the test itself.
  static bool signalRunner(const runner::JobEntry& job, int signal) {
    const pid_t runner = runnerOf(job);
    return runner > 1 && ::kill(runner, signal) == 0;
  }

  void letGo() const { std::ofstream(state_.path() + "/go") << "go"; }
  bool hasWritten(const std::string& text) const {
    return poprun({"--logs", "1"}).out.find(text) != std::string::npos;
  }

  const TempDir state_;
};

// Waits for the file without a busy loop.
const std::string kWaits = "while ! test -e \"$GO\"; do sleep 0.01; done; ";

TEST_F(Detached, PrintsItsNumberAndGoesOnWithoutItsPoprun) {
  const Ran started = poprun({"--detach", "-np", "2", "sh", "-c",
                              "echo begin; " + kWaits + "echo end; exit $((7 * POPDIST_INSTANCE_INDEX))"});
  EXPECT_EQ(started.exit_code, 0) << started.err;
  EXPECT_EQ(started.out, "1\n");
  EXPECT_TRUE(holdsWithin([this] { return hasWritten("[1] begin"); }));
  EXPECT_EQ(stateOf(1), runner::JobState::kRunning);
  letGo();
  const Ran attached = poprun({"--attach", "1"});
  EXPECT_EQ(attached.exit_code, 7);
  for (const char* line : {"[0] begin\n", "[1] begin\n", "[1] end\n"})
    EXPECT_THAT(attached.out, HasSubstr(line));
  EXPECT_THAT(attached.err, HasSubstr("exited with code 7"));
  EXPECT_EQ(stateOf(1), runner::JobState::kEnded);
}

TEST_F(Detached, ShowsAllOfItToEverybodyWhoAttaches) {
  ASSERT_EQ(poprun({"--detach", "--name", "counts", "sh", "-c", "seq 1 20000"}).exit_code, 0);
  const Ran first = poprun({"--attach", "counts"});
  const Ran second = poprun({"--attach", "1"});
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_EQ(first.out, second.out);
  EXPECT_EQ(first.out, os::outputOf({"seq", "1", "20000"}, kTimeout).value());
}

TEST_F(Detached, EndsWhenItIsCancelled) {
  ASSERT_EQ(poprun({"--detach", "sh", "-c", "echo begin; " + kWaits}).exit_code, 0);
  ASSERT_TRUE(holdsWithin([this] { return hasWritten("begin"); }));
  EXPECT_EQ(poprun({"--cancel", "1"}).exit_code, 0);
  EXPECT_EQ(poprun({"--attach", "1"}).exit_code, 128 + SIGTERM);
  EXPECT_EQ(stateOf(1), runner::JobState::kEnded);
  const Ran again = poprun({"--cancel", "1"});
  EXPECT_EQ(again.exit_code, 125);
  EXPECT_THAT(again.err, HasSubstr("has ended already"));
}

TEST_F(Detached, IsKilledWhenItIsCancelledTwice) {
  ASSERT_EQ(poprun({"--detach", "--kill-grace", "1h", "sh", "-c",
                    "trap 'echo asked' TERM; echo begin; while :; do sleep 0.01; done"})
                .exit_code,
            0);
  ASSERT_TRUE(holdsWithin([this] { return hasWritten("begin"); }));
  EXPECT_EQ(poprun({"--cancel", "1"}).exit_code, 0);
  ASSERT_TRUE(holdsWithin([this] { return hasWritten("asked"); }));
  EXPECT_EQ(stateOf(1), runner::JobState::kRunning);
  EXPECT_EQ(poprun({"--cancel", "1"}).exit_code, 0);
  EXPECT_EQ(poprun({"--attach", "1"}).exit_code, 128 + SIGTERM);
}

TEST_F(Detached, EndsWithTheCtrlCOfAViewerInControl) {
  ASSERT_EQ(poprun({"--detach", "sh", "-c", "echo begin; " + kWaits}).exit_code, 0);
  const std::string seen = state_.path() + "/seen";
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int file = ::open(seen.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  auto viewer = os::HelperProgram::start({POPRUN_PATH, "--attach", "1", "--control"}, {null, file, null});
  ASSERT_TRUE(viewer.ok());
  ASSERT_TRUE(holdsWithin([&] { return std::filesystem::file_size(seen) > 0; }));  // it watches signals
  viewer->signal(SIGINT);
  const std::optional<int> status = viewer->wait(kTimeout);
  ::close(null);
  ::close(file);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(WEXITSTATUS(*status), 128 + SIGINT);
  EXPECT_TRUE(holdsWithin([this] { return stateOf(1) == runner::JobState::kEnded; }));
}

TEST_F(Detached, IsFollowedToItsEnd) {
  ASSERT_EQ(poprun({"--detach", "sh", "-c", "echo begin; " + kWaits + "echo end; exit 7"}).exit_code, 0);
  const std::string seen = state_.path() + "/seen";
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int file = ::open(seen.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  auto log = os::HelperProgram::start({POPRUN_PATH, "--logs", "1", "-f"}, {null, file, null});
  ASSERT_TRUE(log.ok());
  ASSERT_TRUE(holdsWithin([&] { return std::filesystem::file_size(seen) > 0; }));
  letGo();
  const std::optional<int> status = log->wait(kTimeout);
  ::close(null);
  ::close(file);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(WEXITSTATUS(*status), 0) << "whatever the job's";
  EXPECT_EQ(sys::readFile(seen).value(), "begin\nend\n");
}

TEST_F(Detached, EndsWithItsRunner) {
  ASSERT_EQ(poprun({"--detach", "sh", "-c", "echo pid $$; " + kWaits}).exit_code, 0);
  ASSERT_TRUE(holdsWithin([this] { return hasWritten("pid "); }));
  const pid_t instance = std::atoi(poprun({"--logs", "1"}).out.substr(4).c_str());
  ASSERT_GT(instance, 1);
  ASSERT_TRUE(signalRunner(jobs().at(0), SIGKILL));
  EXPECT_TRUE(holdsWithin([&] { return ::kill(instance, 0) != 0; }));
  EXPECT_TRUE(holdsWithin([this] { return stateOf(1) == runner::JobState::kLost; }));
  const Ran attached = poprun({"--attach", "1"});
  EXPECT_EQ(attached.exit_code, 125);
  EXPECT_THAT(attached.err, HasSubstr("runner of job 1 was killed"));
}

TEST_F(Detached, IsNotHeldUpByItsLog) {
  ASSERT_EQ(poprun({"--detach", "--log-limit", "12MiB", "sh", "-c", "seq 1 4000000; echo last"}).exit_code,
            0);
  const Ran attached = poprun({"--attach", "1"});
  ASSERT_TRUE(holdsWithin([this] { return stateOf(1) == runner::JobState::kEnded; }));
  const Ran later = poprun({"--logs", "1"});
  EXPECT_TRUE(later.out.starts_with("1\n2\n3\n"));
  EXPECT_TRUE(later.out.ends_with("4000000\nlast\n"));
  EXPECT_LT(later.out.size(), 20U << 20);
  EXPECT_THAT(later.err, HasSubstr("of output was dropped here"));
}

TEST_F(Detached, GoesOnWhenItsViewerIsInterrupted) {
  ASSERT_EQ(poprun({"--detach", "sh", "-c", "echo begin; " + kWaits + "echo end"}).exit_code, 0);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  auto viewer = os::HelperProgram::start({POPRUN_PATH, "--attach", "1"}, {null, null, null});
  ASSERT_TRUE(viewer.ok());
  ASSERT_TRUE(holdsWithin([this] { return hasWritten("begin"); }));
  // It may not watch signals yet: then SIGINT ends it, and the job goes on as well.
  viewer->signal(SIGINT);
  EXPECT_TRUE(viewer->wait(kTimeout).has_value());
  ::close(null);
  EXPECT_EQ(stateOf(1), runner::JobState::kRunning);
  letGo();
  EXPECT_THAT(poprun({"--attach", "1"}).out, HasSubstr("end\n"));
}

TEST_F(Detached, GoesOnWhenTheTerminalHangsUpIfItIsTo) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  auto started = os::HelperProgram::start(
      {POPRUN_PATH, "--on-hangup", "detach", "sh", "-c", "echo begin; " + kWaits + "echo end; exit 3"},
      {null, null, null});
  ASSERT_TRUE(started.ok());
  ASSERT_TRUE(holdsWithin([this] { return !jobs().empty() && hasWritten("begin"); }));
  started->signal(SIGHUP);
  EXPECT_TRUE(started->wait(kTimeout).has_value());
  ::close(null);
  EXPECT_EQ(stateOf(1), runner::JobState::kRunning);
  letGo();
  EXPECT_EQ(poprun({"--attach", "1"}).exit_code, 3);
}

TEST_F(Detached, HearsOfACancelHoweverManyLookOn) {
  ASSERT_EQ(poprun({"--detach", "sh", "-c", "echo begin; " + kWaits}).exit_code, 0);
  std::vector<sys::Fd> clients;
  for (int i = 0; i < 64; ++i) {
    Result<sys::Fd> client = runner::connectToRunner(jobs().at(0).path);
    ASSERT_TRUE(client.ok());
    clients.push_back(std::move(*client));
  }
  EXPECT_EQ(poprun({"--logs", "1"}).err, "");
  const Ran cancelled = poprun({"--cancel", "1"});
  EXPECT_EQ(cancelled.exit_code, 0) << cancelled.err;
  EXPECT_EQ(poprun({"--attach", "1"}).exit_code, 128 + SIGTERM);
}

TEST_F(Detached, LetsAViewerInControlGoWhenItsRunnerIsStopped) {
  ASSERT_EQ(poprun({"--detach", "sh", "-c", "echo begin; " + kWaits}).exit_code, 0);
  const pid_t runner = runnerOf(jobs().at(0));
  ASSERT_GT(runner, 1);
  const std::string seen = state_.path() + "/seen", errors = state_.path() + "/errors";
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int out = ::open(seen.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const int err = ::open(errors.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  auto viewer = os::HelperProgram::start({POPRUN_PATH, "--attach", "1", "--control"}, {null, out, err});
  ASSERT_TRUE(viewer.ok());
  ASSERT_TRUE(holdsWithin([&] { return std::filesystem::file_size(seen) > 0; }));
  ASSERT_EQ(::kill(runner, SIGSTOP), 0);
  viewer->signal(SIGINT);
  EXPECT_TRUE(holdsWithin(
      [&] { return sys::readFile(errors).value().find("has not answered in 10 s") != std::string::npos; }));
  viewer->signal(SIGINT);
  const std::optional<int> status = viewer->wait(kTimeout);
  ::kill(runner, SIGCONT);
  for (const int file : {null, out, err}) ::close(file);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(WEXITSTATUS(*status), 0);
  EXPECT_EQ(poprun({"--attach", "1"}).exit_code, 128 + SIGINT);
}

TEST_F(Detached, WhoseRecordsCannotBeReadSaysSo) {
  model::JobSpec spec;
  spec.programs = {{.command = {"true"}}};
  const runner::JobDirectories directories(state_.path() + "/poprun/jobs");
  const Result<runner::JobEntry> job = directories.create("", wire::encode(spec));
  ASSERT_TRUE(job.ok()) << job.status().message();
  ASSERT_TRUE(runner::lockJob(job.value().path).ok());  // and lets it go: its runner has been there
  for (const runner::RecordKind kind : {runner::RecordKind::kOutput, runner::RecordKind::kEvent}) {
    ASSERT_TRUE(runner::RecordWriter::open(job.value().path).value().append(kind, "\xff no message").ok());
    const Ran logs = poprun({"--logs", "1"});
    EXPECT_EQ(logs.exit_code, 125) << logs.err;
    EXPECT_THAT(logs.err, HasSubstr("the records of job 1 cannot be read"));
  }
}

TEST_F(Detached, ThatIsNotThereIsNamed) {
  for (const char* command : {"--attach", "--logs", "--cancel"}) {
    const Ran ran = poprun({command, "99"});
    EXPECT_EQ(ran.exit_code, 125) << command;
    EXPECT_THAT(ran.err, HasSubstr("99")) << command;
  }
}

TEST_F(Detached, OfAProgramThatIsNotThereSaysSoWhenAttached) {
  ASSERT_EQ(poprun({"--detach", "/no/such/program"}).exit_code, 0);
  const Ran attached = poprun({"--attach", "1"});
  EXPECT_EQ(attached.exit_code, 127);
  EXPECT_THAT(attached.err, HasSubstr("/no/such/program"));
}

}  // namespace
}  // namespace pop::testing
