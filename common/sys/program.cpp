// SPDX-License-Identifier: Apache-2.0
#include "common/sys/program.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <optional>

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
  const std::string path(self.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::string directory = path.substr(0, path.rfind('/'));
  const std::string installed = directory.substr(0, directory.rfind('/')) + "/libexec/poprun/" + name;
  return ::access(installed.c_str(), X_OK) == 0 ? installed : directory + '/' + name;
}

Result<std::string> outputOf(const std::vector<std::string>& command, std::chrono::milliseconds patience) {
  const Clock::time_point deadline = Clock::now() + patience;
  POP_ASSIGN_OR_RETURN(ChildProgram program, ChildProgram::start(command));
  std::string out_text, err_text;
  const bool in_time = readBoth(program.out(), out_text, program.err(), err_text, deadline);
  const std::optional<int> wait_status = in_time ? program.wait(leftUntil(deadline)) : std::nullopt;
  if (!wait_status)
    return Status(Code::kDeadlineExceeded,
                  command.front() + " has not answered within " + std::to_string(patience.count()) + " ms");
  if (*wait_status == 0) return out_text;
  return Status(Code::kFailedPrecondition, command.front() + ' ' + howItEnded(*wait_status, err_text));
}

}  // namespace pop::sys
