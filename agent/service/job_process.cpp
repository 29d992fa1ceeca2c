// SPDX-License-Identifier: Apache-2.0
#include "agent/service/job_process.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "common/sys/process_end.h"
#include "common/sys/start_program.h"
#include "common/sys/unix_socket.h"

namespace pop::agent {

JobProcess& JobProcess::operator=(JobProcess&& other) noexcept {
  if (this == &other) return *this;
  kill();
  reaper_ = other.reaper_;
  pid_ = std::exchange(other.pid_, -1);
  pidfd_ = std::move(other.pidfd_);
  stream_ = std::move(other.stream_);
  errors_ = std::move(other.errors_);
  return *this;
}

bool JobProcess::hasEnded() const {
  pollfd waiting{pidfd_.get(), POLLIN, 0};
  return pid_ < 0 || ::poll(&waiting, 1, 0) == 1;
}

// No status: the process has not ended yet, or its tracer has not released it.
std::optional<int> JobProcess::killAndReap() {
  const pid_t pid = std::exchange(pid_, -1);
  if (pid < 0) return std::nullopt;
  ::kill(pid, SIGKILL);  // its number is its own until it is reaped
  int status = 0;
  if (::waitpid(pid, &status, WNOHANG) == pid) return status;
  reaper_->add(pid);
  return std::nullopt;
}

std::string JobProcess::end() {
  const bool is_ours_to_end = !hasEnded() || pid_ < 0;
  const std::optional<int> status = killAndReap();
  if (status && WIFEXITED(*status)) return "ended with exit code " + std::to_string(WEXITSTATUS(*status));
  return status || is_ours_to_end ? "was killed" : "ended while it was being traced";
}

void JobProcess::kill() {
  killAndReap();
  pidfd_.reset();
  stream_.reset();
  errors_.reset();
}

Result<JobProcess> startJobProcess(const std::string& user, const std::vector<std::string>& command,
                                   const std::string& agent, ZombieReaper& zombies) {
  POP_ASSIGN_OR_RETURN(auto streams, sys::socketPair());
  POP_ASSIGN_OR_RETURN(sys::Pipe errors, sys::makePipe());
  std::vector<std::string> words{agent, "become", user, std::to_string(::getpid()), "--"};
  words.insert(words.end(), command.begin(), command.end());
  JobProcess process;
  process.reaper_ = &zombies;
  const int stream = streams.second.get();
  POP_ASSIGN_OR_RETURN(process.pid_, sys::startProgram(words, {stream, stream, errors.write_end.get()}));
  process.pidfd_ = sys::endOf(process.pid_);
  if (!process.pidfd_.valid()) return errnoStatus("watching the agent of a job", errno);
  process.stream_ = std::move(streams.first);
  process.errors_ = std::move(errors.read_end);
  POP_RETURN_IF_ERROR(sys::setNonBlocking(process.stream_.get()));
  POP_RETURN_IF_ERROR(sys::setNonBlocking(process.errors_.get()));
  return process;
}

}  // namespace pop::agent
