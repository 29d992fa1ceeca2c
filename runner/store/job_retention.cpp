// SPDX-License-Identifier: Apache-2.0
#include "runner/store/job_retention.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

namespace pop::runner {
namespace {

constexpr std::chrono::days kKeptFor{30};
constexpr std::chrono::days kOldFor{1};
constexpr std::size_t kMostEnded = 1000;

using Time = std::chrono::system_clock::time_point;

// Its content, not its time: that is the file system's.
std::string markOf(const JobEntry& job) {
  return job.path + "/old";
}

Time endOf(const JobEntry& job) {
  return job.ended.value_or(job.begun);
}

void removeAll(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

void remove(const JobEntry& job) {
  ::unlink((job.path + "/spec").c_str());  // no job any more, even if this process is stopped here
  removeAll(job.path);
}

std::optional<Time> whenMarked(const JobEntry& job) {
  std::int64_t seconds = 0;
  if (!(std::ifstream(markOf(job)) >> seconds)) return std::nullopt;
  return Time(std::chrono::seconds(seconds));
}

// Marks it the first time; a mark of a clock that was ahead does not stay.
bool isOld(const JobEntry& job, Time now) {
  const std::optional<Time> marked = whenMarked(job);
  if (now - endOf(job) <= kKeptFor) {
    if (marked) ::unlink(markOf(job).c_str());
    return false;
  }
  if (marked && *marked <= now) return now - *marked >= kOldFor;
  std::ofstream(markOf(job)) << std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count()
                             << '\n';
  return false;
}

}  // namespace

void removeOldJobs(std::span<const JobEntry> jobs, std::chrono::system_clock::time_point now) {
  std::vector<const JobEntry*> ended;
  for (const JobEntry& job : jobs) {
    if (job.state != JobState::kRunning) ended.push_back(&job);
  }
  std::sort(ended.begin(), ended.end(),
            [](const JobEntry* a, const JobEntry* b) { return endOf(*a) > endOf(*b); });
  for (std::size_t place = 0; place < ended.size(); ++place) {
    if (place >= kMostEnded || isOld(*ended[place], now)) remove(*ended[place]);
  }
}

void removeUnfinished(const std::string& root, int number) {
  const std::string path = root + "/" + std::to_string(number);
  struct stat status {};
  if (::lstat((path + "/spec").c_str(), &status) != 0 && errno == ENOENT) removeAll(path);
}

}  // namespace pop::runner
