// SPDX-License-Identifier: Apache-2.0
#include "bench/daemon_speed/processes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <sstream>

#include "common/base/text.h"
#include "common/sys/fd.h"
#include "tests/testing/file_text.h"

namespace pop::bench {
namespace {

constexpr std::chrono::seconds kStopWithin{15};
constexpr std::chrono::seconds kCommandLimit{60};

// Programs end with the thread that starts them, also when it is killed: those that serve belong to the main
// one.
Result<os::HelperProgram> startOwn(const std::vector<std::string>& command, const std::array<int, 3>& stdio) {
  return os::HelperProgram::start(command, stdio, os::Leads::kSession, os::AfterUs::kDies);
}

sys::Fd opened(const std::string& path, int flags) {
  return sys::Fd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
}

std::string nameOf(const std::vector<std::string>& command) {
  return inQuotes(join(command, " ").substr(0, 200));
}

Status reap(const std::vector<std::string>& command, os::HelperProgram& program) {
  const std::optional<int> status = program.wait(kCommandLimit);
  if (!status) return internalError(nameOf(command) + " has not ended after a minute");
  if (*status != 0) return internalError(nameOf(command) + " fails, status " + std::to_string(*status));
  return {};
}

}  // namespace

Result<Served> Served::start(const std::vector<std::string>& command, const std::string& log) {
  const sys::Fd input = opened("/dev/null", O_RDONLY);
  const sys::Fd output = opened(log, O_WRONLY | O_CREAT | O_APPEND);
  Served served;
  POP_ASSIGN_OR_RETURN(served.program_, startOwn(command, {input.get(), output.get(), output.get()}));
  return served;
}

Served::~Served() {
  if (program_.pid() <= 0) return;
  program_.signal(SIGTERM);
  program_.endsWithin(kStopWithin);
}

Result<double> timeOf(const std::vector<std::string>& command) {
  const sys::Fd null = opened("/dev/null", O_RDWR);
  const Clock::time_point begin = Clock::now();
  POP_ASSIGN_OR_RETURN(os::HelperProgram program, startOwn(command, {null.get(), null.get(), null.get()}));
  POP_RETURN_IF_ERROR(reap(command, program));
  return secondsSince(begin);
}

Result<double> timeToLine(const std::vector<std::string>& command, int lines) {
  const sys::Fd null = opened("/dev/null", O_RDWR);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return internalError("no pipe could be made");
  const sys::Fd reader(ends[0]);
  sys::Fd writer(ends[1]);
  const Clock::time_point begin = Clock::now();
  POP_ASSIGN_OR_RETURN(os::HelperProgram program, startOwn(command, {null.get(), writer.get(), null.get()}));
  writer = sys::Fd();
  double at_s = 0;
  std::array<char, 4096> bytes{};
  for (ssize_t count = 0; (count = ::read(reader.get(), bytes.data(), bytes.size())) > 0;) {
    lines -= static_cast<int>(std::count(bytes.begin(), bytes.begin() + count, '\n'));
    if (lines <= 0 && at_s == 0) at_s = secondsSince(begin);
  }
  POP_RETURN_IF_ERROR(reap(command, program));
  if (at_s == 0) return internalError(nameOf(command) + " printed too few lines");
  return at_s;
}

double cpuSecondsOf(pid_t pid) {
  const std::string text = testing::fileText("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_ends = text.rfind(')');
  if (name_ends == std::string::npos) return 0;
  // Fields 3 to 13 of proc(5), then utime and stime.
  std::istringstream words(text.substr(name_ends + 1));
  std::string skipped;
  for (int field = 3; field <= 13; ++field) words >> skipped;
  double user = 0, system = 0;
  words >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double residentMibOf(pid_t pid) {
  std::istringstream words(testing::fileText("/proc/" + std::to_string(pid) + "/statm"));
  double size = 0, resident = 0;
  words >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

}  // namespace pop::bench
