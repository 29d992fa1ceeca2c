// SPDX-License-Identifier: Apache-2.0
#include "agent/service/job_process.h"

#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "common/sys/unix_socket.h"

namespace pop::agent {
namespace {

// Its signals are a fresh process's, whatever this thread blocks; its session is its own.
class Attributes {
 public:
  Attributes() {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

class Actions {
 public:
  Actions(int stream, int errors) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, stream, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, stream, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
  }
  ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

Result<pid_t> spawn(const std::vector<std::string>& command, int stream, int errors) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, arguments[0], Actions(stream, errors).get(), Attributes().get(),
                                  arguments.data(), environ);
  if (error != 0) return errnoStatus("starting " + command.front(), error);
  return pid;
}

}  // namespace

JobProcess& JobProcess::operator=(JobProcess&& other) noexcept {
  if (this == &other) return *this;
  kill();
  pid_ = std::exchange(other.pid_, -1);
  pidfd_ = std::move(other.pidfd_);
  stream_ = std::move(other.stream_);
  errors_ = std::move(other.errors_);
  return *this;
}

bool JobProcess::hasEnded() const {
  pollfd waiting{pidfd_.get(), POLLIN, 0};
  return pid_ < 0 || ::poll(&waiting, 1, 0) != 0;
}

void JobProcess::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);  // its number is its own until it is reaped here
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
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
  POP_ASSIGN_OR_RETURN(process.pid_, spawn(words, streams.second.get(), errors.write_end.get()));
  process.pidfd_ = sys::Fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid_, 0)));
  if (!process.pidfd_.valid()) return errnoStatus("watching the agent of a job", errno);
  process.stream_ = std::move(streams.first);
  process.errors_ = std::move(errors.read_end);
  POP_RETURN_IF_ERROR(sys::setNonBlocking(process.stream_.get()));
  POP_RETURN_IF_ERROR(sys::setNonBlocking(process.errors_.get()));
  return process;
}

}  // namespace pop::agent
