// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/poprun_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>

#include "common/base/check.h"
#include "common/sys/unix_socket.h"

namespace pop::testing {
namespace {

constexpr const char* kPoprunPath = POP_BIN_DIR "/poprun";

std::string newToken() {
  std::random_device random;
  return "POP_TEST_TOKEN=" + std::to_string(::getpid()) + '-' + std::to_string(random()) +
         std::to_string(random());
}

std::string newScratchDirectory() {
  std::string path = ::testing::TempDir() + "poprun-test-XXXXXX";
  POP_CHECK(::mkdtemp(path.data()) != nullptr);
  return path;
}

std::string nameOf(const std::string& variable) {
  return variable.substr(0, variable.find('='));
}

// Our own environment, without what an outer job may have set, and with the run's own over it.
std::vector<std::string> environmentFor(const PoprunSetup& setup, const std::vector<std::string>& own) {
  std::map<std::string, std::string> merged;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::string(*variable).rfind("POPDIST_", 0) != 0) merged[nameOf(*variable)] = *variable;
  }
  for (const std::string& variable : own) merged[nameOf(variable)] = variable;
  for (const auto& [name, value] : setup.environment) merged[name] = name + '=' + value;
  std::vector<std::string> result;
  for (const auto& [name, variable] : merged) result.push_back(variable);
  return result;
}

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// A descriptor of poprun and its other end, which is ours.
struct Channel {
  sys::Fd ours;
  sys::Fd theirs;
};

Channel newChannel(bool socket) {
  if (socket) {
    auto ends = std::move(sys::socketPair()).value();
    return {std::move(ends.first), std::move(ends.second)};
  }
  sys::Pipe pipe = std::move(sys::makePipe()).value();
  return {std::move(pipe.read_end), std::move(pipe.write_end)};
}

// In the forked child: from here to exec, as a shell would set it up.
void setUpChild(const PoprunSetup& setup, int out, int err) {
  if (setup.own_session) {
    ::setsid();
  } else {
    ::setpgid(0, 0);
  }
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  for (const auto& [fd, source] : setup.descriptors) ::dup2(source, fd);
  if (setup.own_session && ::ioctl(0, TIOCSCTTY, 0) != 0) ::ioctl(2, TIOCSCTTY, 0);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const int fd : setup.closed_fds) ::close(fd);
  if (setup.open_fd) ::dup2(null, *setup.open_fd);
  for (const int ignored : setup.ignored_signals) ::signal(ignored, SIG_IGN);
  if (setup.blocked_signals) {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
  }
  if (setup.descriptor_limit) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = *setup.descriptor_limit;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (setup.file_bytes_limit) {
    const rlimit limit{*setup.file_bytes_limit, *setup.file_bytes_limit};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (!setup.directory.empty() && ::chdir(setup.directory.c_str()) != 0) ::_exit(99);
}

}  // namespace

PoprunProcess::PoprunProcess(const PoprunSetup& setup) : token_(newToken()), scratch_(newScratchDirectory()) {
  // Processes that poprun fails to reap or leaves running when it ends come to us, and so can be seen.
  POP_CHECK(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  for (const pid_t child : ownChildren()) older_children_.insert(child);
  start(setup);
}

void PoprunProcess::start(const PoprunSetup& setup) {
  const std::string program = setup.program.empty() ? kPoprunPath : setup.program;
  std::vector<std::string> arguments{program};
  arguments.insert(arguments.end(), setup.options.begin(), setup.options.end());
  if (!setup.child.empty()) arguments.push_back(testChildPath());
  arguments.insert(arguments.end(), setup.child.begin(), setup.child.end());
  std::vector<std::string> variables = environmentFor(setup, {token_, "TMPDIR=" + scratch_});
  const std::vector<char*> argv = pointersTo(arguments);
  const std::vector<char*> environment = pointersTo(variables);

  Channel out = newChannel(setup.socket_output);
  Channel err = newChannel(setup.socket_output);
  pid_ = ::fork();
  POP_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    setUpChild(setup, out.theirs.get(), setup.one_pipe ? out.theirs.get() : err.theirs.get());
    ::execve(program.c_str(), argv.data(), environment.data());
    ::_exit(98);
  }
  // Here as well: signalGroup() may come before the child gets to it. A group's leader cannot begin a
  // session.
  if (!setup.own_session) ::setpgid(pid_, pid_);
  // glibc 2.36 declares pidfd_open without C linkage.
  pidfd_ = sys::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  POP_CHECK(pidfd_.valid());
  streams_[0].fd = std::move(out.ours);
  streams_[1].fd = std::move(err.ours);
  for (Stream& stream : streams_) POP_CHECK(sys::setNonBlocking(stream.fd.get()).ok());
}

PoprunProcess::~PoprunProcess() {
  if (ended() && *exit_code_ >= 0) {
    EXPECT_EQ(leftNow(), "") << "poprun ended with code " << *exit_code_ << " and left this";
  }
  if (!ended()) {
    signal(SIGKILL);
    resumeReading();
    wait();
  }
  if (!goneWithin(Milliseconds(2000))) {
    for (const pid_t pid : processesWith(token_)) ::kill(pid, SIGKILL);
  }
  std::error_code ignored;
  std::filesystem::remove_all(scratch_, ignored);
}

void PoprunProcess::closeOutput() {
  for (Stream& stream : streams_) stream.fd.reset();
}

bool PoprunProcess::outputFull() const {
  // A pipe can be full with far fewer bytes than its capacity: only its write end knows.
  const std::string path = "/proc/self/fd/" + std::to_string(streams_[0].fd.get());
  const sys::Fd write_end(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  POP_CHECK(write_end.valid());
  pollfd writable{write_end.get(), POLLOUT, 0};
  return ::poll(&writable, 1, 0) == 0;
}

// True while there may be more at once.
bool PoprunProcess::readSome(Stream& stream) {
  std::array<char, 64 << 10> buffer;
  const ssize_t got = ::read(stream.fd.get(), buffer.data(), buffer.size());
  if (got > 0) stream.text.append(buffer.data(), static_cast<std::size_t>(got));
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) stream.fd.reset();
  return got > 0;
}

void PoprunProcess::pump(int timeout_ms) {
  std::array<pollfd, 3> fds{pollfd{reading_ ? streams_[0].fd.get() : -1, POLLIN, 0},
                            pollfd{reading_ ? streams_[1].fd.get() : -1, POLLIN, 0},
                            pollfd{pidfd_.get(), POLLIN, 0}};
  ::poll(fds.data(), fds.size(), timeout_ms);
  for (std::size_t i = 0; i < 2; ++i) {
    if (fds[i].revents != 0) readSome(streams_[i]);
  }
  if (fds[2].revents == 0) return;
  int status = 0;
  POP_CHECK(::waitpid(pid_, &status, 0) == pid_);
  exit_code_ = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  pidfd_.reset();
}

bool PoprunProcess::waitFor(const std::function<bool()>& condition, Milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    if (ended() && (!reading_ || !streamsOpen())) return false;
    pump(2);
  }
  return true;
}

std::vector<pid_t> PoprunProcess::waitReady(int count) {
  std::map<int, pid_t> ready;
  const bool all = waitFor([&] {
    ready.clear();
    for (const std::string& line : linesOf(out().substr(0, out().rfind('\n') + 1))) {
      const std::size_t at = line.find("ready ");
      int instance = 0;
      pid_t pid = 0;
      if (at != std::string::npos && std::sscanf(line.c_str() + at, "ready %d %d", &instance, &pid) == 2) {
        ready[instance] = pid;
      }
    }
    return static_cast<int>(ready.size()) >= count;
  });
  EXPECT_TRUE(all) << ready.size() << " of " << count << " instances are ready; stderr: " << err();
  if (!all) return {};
  std::vector<pid_t> pids;
  for (const auto& [instance, pid] : ready) pids.push_back(pid);
  return pids;
}

int PoprunProcess::wait(Milliseconds limit) {
  waitFor([this] { return ended() && (!reading_ || !streamsOpen()); }, limit);
  EXPECT_TRUE(ended()) << "poprun still runs after " << limit.count() << " ms; stderr: " << err();
  EXPECT_TRUE(!ended() || !reading_ || !streamsOpen())
      << "poprun has ended, but somebody holds its stdout or stderr";
  return exit_code_.value_or(-1000);
}

int PoprunProcess::interruptUntilEnd() {
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  while (!ended() && std::chrono::steady_clock::now() < deadline) {
    signal(SIGINT);
    waitFor([this] { return ended(); }, Milliseconds(20));
  }
  return wait(ended() ? kTimeout : Milliseconds(0));
}

std::string PoprunProcess::leftNow() const {
  std::string left = describeProcesses(processesWith(token_));
  for (const pid_t child : ownChildren()) {
    if (child != pid_ && !older_children_.contains(child))
      left += " handed to us: " + describeProcesses({child});
  }
  for (const auto& entry : std::filesystem::directory_iterator(scratch_)) left += ' ' + entry.path().string();
  return left;
}

std::optional<Milliseconds> PoprunProcess::goneWithin(Milliseconds limit) {
  const auto begin = std::chrono::steady_clock::now();
  const bool gone = waitUntil(
      [this] {
        for (const pid_t child : ownChildren()) {
          if (older_children_.contains(child)) continue;
          if (child != pid_) ::waitpid(child, nullptr, WNOHANG);
        }
        return leftNow().empty();
      },
      limit);
  if (!gone) return std::nullopt;
  return std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - begin);
}

Outcome run(const PoprunSetup& setup, Milliseconds limit) {
  PoprunProcess poprun(setup);
  const int exit_code = poprun.wait(limit);
  return {exit_code, poprun.out(), poprun.err()};
}

std::string testChildPath() {
  return POP_TEST_CHILD_PATH;
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace pop::testing
