// SPDX-License-Identifier: Apache-2.0
#include "agent/service/job_process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "common/sys/program.h"
#include "common/sys/unix_socket.h"

namespace pop::agent {

JobProcess& JobProcess::operator=(JobProcess&& other) noexcept {
  if (this == &other) return *this;
  kill();
  pid_ = std::exchange(other.pid_, -1);
  pidfd_ = std::move(other.pidfd_);
  stream_ = std::move(other.stream_);
  errors_ = std::move(other.errors_);
  return *this;
}

bool JobProcess::hasEnded(std::chrono::milliseconds within) const {
  pollfd waiting{pidfd_.get(), POLLIN, 0};
  return pid_ < 0 || ::poll(&waiting, 1, static_cast<int>(within.count())) != 0;
}

int JobProcess::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return status;
}

std::string JobProcess::endWithin(std::chrono::milliseconds patience) {
  if (pid_ < 0) return "was killed";
  if (!hasEnded(patience)) ::kill(pid_, SIGKILL);
  const int status = reap();
  return WIFEXITED(status) ? "ended with exit code " + std::to_string(WEXITSTATUS(status)) : "was killed";
}

void JobProcess::kill() {
  if (pid_ >= 0) {
    ::kill(pid_, SIGKILL);  // its number is its own until it is reaped here
    reap();
  }
  pidfd_.reset();
  stream_.reset();
  errors_.reset();
}

Result<JobProcess> startJobProcess(const std::string& user, const std::vector<std::string>& command,
                                   const std::string& agent) {
  POP_ASSIGN_OR_RETURN(auto streams, sys::socketPair());
  POP_ASSIGN_OR_RETURN(sys::Pipe errors, sys::makePipe());
  std::vector<std::string> words{agent, "become", user, std::to_string(::getpid()), "--"};
  words.insert(words.end(), command.begin(), command.end());
  JobProcess process;
  const int stream = streams.second.get();
  POP_ASSIGN_OR_RETURN(process.pid_, sys::startProgram(words, {stream, stream, errors.write_end.get()}));
  process.pidfd_ = sys::Fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid_, 0)));
  if (!process.pidfd_.valid()) return errnoStatus("watching the agent of a job", errno);
  process.stream_ = std::move(streams.first);
  process.errors_ = std::move(errors.read_end);
  POP_RETURN_IF_ERROR(sys::setNonBlocking(process.stream_.get()));
  POP_RETURN_IF_ERROR(sys::setNonBlocking(process.errors_.get()));
  return process;
}

}  // namespace pop::agent
