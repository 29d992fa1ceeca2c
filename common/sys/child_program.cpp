// SPDX-License-Identifier: Apache-2.0
#include "common/sys/child_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>

#include "common/sys/process_end.h"
#include "common/sys/start_program.h"

namespace pop::sys {
namespace {

// Whoever gives a helper a timeout has little more.
constexpr std::chrono::milliseconds kAfterSigkill{500};

// Programs that were killed and had not ended when we looked.
class Stragglers {
 public:
  void add(pid_t pid) {
    const std::scoped_lock lock(mutex_);
    pids_.push_back(pid);
  }
  void reap() {
    const std::scoped_lock lock(mutex_);
    std::erase_if(pids_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> pids_;
};

Stragglers& stragglers() {
  static Stragglers all;
  return all;
}

}  // namespace

Result<ChildProgram> ChildProgram::start(const std::vector<std::string>& command) {
  POP_ASSIGN_OR_RETURN(Pipe out, makePipe());
  POP_ASSIGN_OR_RETURN(Pipe err, makePipe());
  const Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null.valid()) return errnoStatus("opening /dev/null", errno);
  POP_ASSIGN_OR_RETURN(const pid_t pid,
                       startProgram(command, {null.get(), out.write_end.get(), err.write_end.get()}));
  return ChildProgram(pid, std::move(out.read_end), std::move(err.read_end));
}

ChildProgram::~ChildProgram() {
  stragglers().reap();
  if (pid_ < 0) return;
  kill();
  if (!wait(kAfterSigkill)) stragglers().add(pid_);
}

void ChildProgram::kill() const {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

std::optional<int> ChildProgram::wait(std::chrono::milliseconds timeout) {
  if (!endsWithin(pid_, timeout)) return std::nullopt;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return status;
}

void readSome(Fd& stream, std::string& text) {
  std::array<char, 4096> chunk{};
  const ssize_t got = ::read(stream.get(), chunk.data(), chunk.size());
  if (got > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
  if (got == 0 || (got < 0 && errno != EINTR)) stream.reset();
}

std::string howItEnded(int wait_status, std::string last_words) {
  const std::string end = WIFSIGNALED(wait_status)
                              ? "was killed by signal " + std::to_string(WTERMSIG(wait_status))
                              : "ended with exit code " + std::to_string(WEXITSTATUS(wait_status));
  while (last_words.ends_with('\n')) last_words.pop_back();
  return last_words.empty() ? end : end + ": " + last_words;
}

}  // namespace pop::sys
