// SPDX-License-Identifier: Apache-2.0
#include "common/sys/program.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <optional>
#include <string_view>

#include "common/sys/child_program.h"

namespace pop::sys {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds leftUntil(Clock::time_point deadline) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
}

// Both streams up to their ends; false: not within the deadline.
bool readBoth(Fd& out, std::string& out_text, Fd& err, std::string& err_text, Clock::time_point deadline) {
  while (out.valid() || err.valid()) {
    const auto left = leftUntil(deadline).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> waiting{pollfd{out.get(), POLLIN, 0}, pollfd{err.get(), POLLIN, 0}};
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(std::min<long>(left, INT_MAX))) < 0) continue;
    if (waiting[0].revents != 0) readSome(out, out_text);
    if (waiting[1].revents != 0) readSome(err, err_text);
  }
  return true;
}

}  // namespace

std::string ownProgram(const std::string& name) {
  std::array<char, PATH_MAX> self{};
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size());
  return programOf({self.data(), length > 0 ? static_cast<std::size_t>(length) : 0}, name);
}

std::string programOf(const std::string& self, const std::string& name) {
  constexpr std::string_view kLibexec = "/libexec/poprun";
  const std::string directory = self.substr(0, self.rfind('/'));
  const std::string beside = directory + '/' + name;
  const bool in_libexec = directory.ends_with(kLibexec);
  const std::string prefix =
      directory.substr(0, in_libexec ? directory.size() - kLibexec.size() : directory.rfind('/'));
  const std::string elsewhere = prefix + (in_libexec ? "/bin" : std::string(kLibexec)) + '/' + name;
  if (in_libexec && ::access(beside.c_str(), X_OK) == 0) return beside;
  return ::access(elsewhere.c_str(), X_OK) == 0 ? elsewhere : beside;
}

Result<std::string> outputOf(const std::vector<std::string>& command, std::chrono::milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  POP_ASSIGN_OR_RETURN(ChildProgram program, ChildProgram::start(command));
  std::string out_text, err_text;
  const bool in_time = readBoth(program.out(), out_text, program.err(), err_text, deadline);
  const std::optional<int> wait_status = in_time ? program.wait(leftUntil(deadline)) : std::nullopt;
  if (!wait_status)
    return Status(Code::kDeadlineExceeded,
                  command.front() + " has not answered within " + std::to_string(timeout.count()) + " ms");
  if (*wait_status == 0) return out_text;
  return Status(Code::kFailedPrecondition, command.front() + ' ' + howItEnded(*wait_status, err_text));
}

}  // namespace pop::sys
