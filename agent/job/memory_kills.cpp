// SPDX-License-Identifier: Apache-2.0
#include "agent/job/memory_kills.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "common/sys/fd.h"

namespace pop::agent {
namespace {

constexpr std::string_view kLimitV1 = "memory.limit_in_bytes";
constexpr std::string_view kPeakV1 = "memory.max_usage_in_bytes";
constexpr std::string_view kFailuresV1 = "memory.failcnt";
constexpr std::string_view kEventsV1 = "memory.oom_control";
constexpr std::string_view kLimitV2 = "memory.max";
constexpr std::string_view kPeakV2 = "memory.peak";
constexpr std::string_view kEventsV2 = "memory.events";

std::string contentsOf(const std::string& directory, std::string_view file) {
  const Result<std::string> text = sys::readFile(directory + '/' + std::string(file));
  return text.ok() ? text.value() : std::string();
}

// 0: no number. The limit of a cgroup that has none is "max", or a number near the largest.
std::uint64_t numberIn(std::string_view text) {
  constexpr std::int64_t kNoLimit = std::int64_t{1} << 62;
  Result<std::int64_t> number = parseInteger(trimmed(text.substr(0, text.find('\n'))));
  return number.ok() && *number > 0 && *number < kNoLimit ? static_cast<std::uint64_t>(*number) : 0;
}

// "oom_kill 3" of a file with a name and a number in each line.
std::uint64_t countOf(const std::string& text, std::string_view name) {
  for (const std::string& line : split(text, '\n')) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ' ')
      return numberIn(std::string_view(line).substr(name.size()));
  }
  return 0;
}

// As people set limits: in units of 1024.
std::string bytesText(std::uint64_t bytes) {
  constexpr std::uint64_t kKiB = 1024;
  constexpr std::uint64_t kMiB = kKiB * 1024;
  return bytes < kMiB ? std::to_string(bytes / kKiB) + " KiB"
                      : numberText(static_cast<double>(bytes * 10 / kMiB) / 10) + " MiB";
}

// "oom_memcg=/job,": what follows the name, up to the comma.
std::string_view kernelField(std::string_view record, std::string_view name) {
  const std::size_t at = record.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = record.substr(at + name.size());
  return rest.substr(0, rest.find_first_of(",\n"));
}

// The record of the kernel's log about the end of `pid`; empty if there is none, or the log may not be read.
// Each read gives one record: "6,1234,MICROSECONDS,-;oom-kill:constraint=…,pid=712,uid=0".
std::string recordAbout(pid_t pid, const std::string& log, std::int64_t begun_us) {
  constexpr std::int64_t kClocksDiffer_us = 5'000'000;
  const sys::Fd fd(::open(log.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const std::string wanted = "pid=" + std::to_string(pid) + ',';
  std::string found;
  std::array<char, 8192> buffer;
  while (fd.valid()) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EPIPE || errno == EINTR)) continue;  // older records were overwritten
    if (got <= 0) break;
    const std::string_view record(buffer.data(), static_cast<std::size_t>(got));
    if (record.find("oom-kill:") == std::string_view::npos || record.find(wanted) == std::string_view::npos)
      continue;
    const std::vector<std::string> head = split(record.substr(0, record.find(';')), ',');
    if (head.size() < 3 || static_cast<std::int64_t>(numberIn(head[2])) + kClocksDiffer_us < begun_us)
      continue;
    found = record;
  }
  return found;
}

std::int64_t now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

MemoryKills::MemoryKills(std::string root) : root_(std::move(root)), begun_us_(now_us()) {
  const Result<std::string> groups = sys::readFile(root_ + "/proc/self/cgroup");
  if (!groups.ok()) return;
  const std::string mounts = root_ + "/sys/fs/cgroup";
  std::string path_v2;
  for (const std::string& line : split(groups.value(), '\n')) {
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t path = line.find(':', controllers) + 1;
    if (controllers == 0 || path == 0) continue;
    const std::string names = line.substr(controllers, path - 1 - controllers);
    if (names.empty()) path_v2 = line.substr(path);
    const std::vector<std::string> each = split(names, ',');
    if (std::find(each.begin(), each.end(), "memory") == each.end()) continue;
    findLevels(mounts + "/memory", line.substr(path));
    break;
  }
  if (levels_.empty() && !path_v2.empty()) {
    is_v2_ = true;
    findLevels(mounts, path_v2);
  }
  for (Level& level : levels_) level.failures = failuresOf(level);
  kills_ = killsCounted();
}

// In a container the path may be the host's, of which only the end, or nothing, is mounted: missing
// directories are passed by, and the mount itself is always looked at.
void MemoryKills::findLevels(const std::string& mount, std::string path) {
  mount_ = mount;
  while (true) {
    while (path.ends_with('/')) path.pop_back();
    if (::access((mount + path).c_str(), F_OK) == 0)
      levels_.push_back({path.empty() ? "/" : path, mount + path});
    if (path.empty()) return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

std::uint64_t MemoryKills::failuresOf(const Level& level) const {
  return is_v2_ ? countOf(contentsOf(level.directory, kEventsV2), "oom")
                : numberIn(contentsOf(level.directory, kFailuresV1));
}

std::uint64_t MemoryKills::killsCounted() const {
  if (levels_.empty()) return 0;
  return countOf(contentsOf(levels_.front().directory, is_v2_ ? kEventsV2 : kEventsV1), "oom_kill");
}

std::string MemoryKills::describe(const std::string& path, const std::string& directory) const {
  const std::uint64_t limit = numberIn(contentsOf(directory, is_v2_ ? kLimitV2 : kLimitV1));
  const std::uint64_t peak = numberIn(contentsOf(directory, is_v2_ ? kPeakV2 : kPeakV1));
  std::string text = "out of memory (cgroup " + printable(path);
  if (limit > 0) text += ", limit " + bytesText(limit);
  if (peak > 0) text += ", peak " + bytesText(peak);
  return text + ')';
}

std::string MemoryKills::whyByLog(pid_t pid) const {
  const std::string record = recordAbout(pid, root_ + "/dev/kmsg", begun_us_);
  if (record.empty()) return {};
  const std::string_view constraint = kernelField(record, "constraint=");
  if (constraint == "CONSTRAINT_MEMCG") {
    const std::string path(kernelField(record, "oom_memcg="));
    return describe(path, mount_ + path);
  }
  if (constraint == "CONSTRAINT_NONE") return "out of memory (of the whole host)";
  return "out of memory (of the memory nodes that it is bound to)";
}

std::string MemoryKills::why(pid_t pid) {
  const bool is_counted = killsCounted() > kills_;
  if (is_counted) ++kills_;
  if (std::string text = whyByLog(pid); !text.empty()) return text;
  if (!is_counted) return {};
  for (const Level& level : levels_)
    if (failuresOf(level) > level.failures) return describe(level.path, level.directory);
  return "out of memory (of the whole host)";
}

}  // namespace pop::agent
