// SPDX-License-Identifier: Apache-2.0
#include "agent/service/job_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "common/sys/unix_socket.h"

namespace pop::agent {
namespace {

// None of no cgroup.
Result<sys::Fd> opened(const std::string& cgroup) {
  if (cgroup.empty()) return sys::Fd();
  sys::Fd directory(::open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return errnoStatus("opening the job's cgroup " + cgroup, errno);
  return directory;
}

}  // namespace

JobProcess& JobProcess::operator=(JobProcess&& other) noexcept {
  if (this == &other) return *this;
  kill();
  reaper_ = other.reaper_;
  program_ = std::move(other.program_);
  stream_ = std::move(other.stream_);
  errors_ = std::move(other.errors_);
  exit_code_ = other.exit_code_;
  handed_over_ = std::exchange(other.handed_over_, -1);
  cgroup_ = std::exchange(other.cgroup_, {});
  is_held_ = std::exchange(other.is_held_, false);
  times_stopped_ = other.times_stopped_;
  return *this;
}

bool JobProcess::hasEnded() const {
  pollfd waiting{pidfd(), POLLIN, 0};
  return pid() < 0 || ::poll(&waiting, 1, 0) == 1;
}

// No status: the process has not ended yet, or its tracer has not released it.
std::optional<int> JobProcess::killAndReap() {
  if (pid() < 0) return std::nullopt;
  program_.signal(SIGKILL);
  const std::optional<int> status = program_.wait(std::chrono::milliseconds(0));
  if (!status) reaper_->add(handed_over_ = program_.release());
  return status;
}

std::string JobProcess::end() {
  const bool is_ours_to_end = !hasEnded() || pid() < 0;
  const std::optional<int> status = killAndReap();
  if (status && WIFEXITED(*status)) exit_code_ = WEXITSTATUS(*status);
  if (status && WIFEXITED(*status)) return "ended with exit code " + std::to_string(WEXITSTATUS(*status));
  return status || is_ours_to_end ? "was killed" : "ended while it was being traced";
}

void JobProcess::kill() {
  if (is_held_) clear(nullptr);
}

void JobProcess::clear(std::function<void()> empty) {
  is_held_ = false;
  killAndReap();
  program_ = os::HelperProgram();
  stream_.reset();
  errors_.reset();
  reaper_->clear(std::exchange(cgroup_, {}), handed_over_, std::move(empty));
}

int JobProcess::continueIfStopped() {
  siginfo_t stopped{};
  if (pid() < 0 || ::waitid(P_PID, static_cast<id_t>(pid()), &stopped, WSTOPPED | WNOHANG) != 0 ||
      stopped.si_pid == 0)
    return times_stopped_;
  ::kill(pid(), SIGCONT);
  return ++times_stopped_;
}

Result<JobProcess> startJobProcess(const std::string& user, const std::vector<std::string>& command,
                                   const std::string& agent, ZombieReaper& zombies,
                                   const std::optional<Login>& login) {
  POP_ASSIGN_OR_RETURN(auto streams, sys::socketPair());
  POP_ASSIGN_OR_RETURN(sys::Pipe errors, sys::makePipe());
  JobProcess process;
  process.reaper_ = &zombies;
  POP_ASSIGN_OR_RETURN(process.cgroup_, zombies.newCgroup());
  process.is_held_ = true;
  POP_ASSIGN_OR_RETURN(const sys::Fd cgroup, opened(process.cgroup_));
  std::vector<std::string> words{agent, "become", user, std::to_string(::getpid())};
  const std::vector<std::string> known = login ? wordsOf(*login) : std::vector<std::string>{user};
  words.insert(words.end(), known.begin() + 1, known.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  const int stream = streams.second.get();
  POP_ASSIGN_OR_RETURN(process.program_,
                       os::HelperProgram::start(words, {stream, stream, errors.write_end.get()},
                                                os::Leads::kSession, os::AfterUs::kGoesOn, cgroup.get()));
  if (process.pidfd() < 0) return errnoStatus("watching the agent of a job", errno);
  process.stream_ = std::move(streams.first);
  process.errors_ = std::move(errors.read_end);
  POP_RETURN_IF_ERROR(sys::setNonBlocking(process.stream_.get()));
  POP_RETURN_IF_ERROR(sys::setNonBlocking(process.errors_.get()));
  return process;
}

}  // namespace pop::agent
