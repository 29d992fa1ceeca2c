// SPDX-License-Identifier: Apache-2.0
// The process's resources: /proc/self.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/text.h"
#include "common/sys/fd.h"
#include "popdistd/web/metrics.h"

namespace pop::popdistd {
namespace {

// Fields of /proc/self/stat, from the one after the program's name, which may have blanks.
enum Field : std::uint8_t {
  kUserTicks = 11,
  kSystemTicks = 12,
  kThreads = 17,
  kStarted = 19,
  kVirtual = 20,
  kResident = 21,
  kFields = 22
};

std::int64_t number(const std::string& text) {
  const Result<std::int64_t> value = parseInteger(text);
  return value.ok() ? value.value() : 0;
}

double bootTime() {
  timespec real{};
  timespec since_boot{};
  ::clock_gettime(CLOCK_REALTIME, &real);
  ::clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const auto seconds = [](const timespec& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  return seconds(real) - seconds(since_boot);
}

}  // namespace

ProcessMeasures measureProcess() {
  ProcessMeasures measures;
  const Result<std::string> stat = sys::readFile("/proc/self/stat");
  if (stat.ok()) {
    const std::vector<std::string> fields =
        split(stat.value().substr(std::min(stat.value().rfind(')') + 2, stat.value().size())), ' ');
    if (fields.size() >= kFields) {
      const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
      measures.cpu_seconds =
          static_cast<double>(number(fields[kUserTicks]) + number(fields[kSystemTicks])) / ticks;
      measures.started = bootTime() + static_cast<double>(number(fields[kStarted])) / ticks;
      measures.threads = number(fields[kThreads]);
      measures.virtual_bytes = number(fields[kVirtual]);
      measures.resident_bytes = number(fields[kResident]) * ::sysconf(_SC_PAGESIZE);
    }
  }
  std::error_code ignored;
  const auto files = std::filesystem::directory_iterator("/proc/self/fd", ignored);
  if (!ignored) measures.open_files = std::distance(begin(files), end(files));
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    measures.most_files = static_cast<std::int64_t>(limit.rlim_cur);
  return measures;
}

}  // namespace pop::popdistd
