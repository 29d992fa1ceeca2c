// SPDX-License-Identifier: Apache-2.0
#include "agent/topo/cgroup_quota.h"

#include <algorithm>
#include <vector>

#include "common/base/text.h"
#include "common/sys/fd.h"

namespace pop::agent {
namespace {

std::string firstLine(const std::string& path) {
  const Result<std::string> text = sys::readFile(path);
  return text.ok() ? text.value().substr(0, text.value().find('\n')) : std::string();
}

// Microseconds of CPU time in each period, also in microseconds; 0 for "max", for -1 and if the files are
// missing.
double ratio(const std::string& quota, const std::string& period) {
  const Result<std::int64_t> time = parseInteger(quota);
  const Result<std::int64_t> of = parseInteger(period);
  if (!time.ok() || !of.ok() || time.value() <= 0 || of.value() <= 0) return 0;
  return static_cast<double>(time.value()) / static_cast<double>(of.value());
}

double quotaV2(const std::string& directory) {
  const std::vector<std::string> words = split(firstLine(directory + "/cpu.max"), ' ');
  return words.size() == 2 ? ratio(words[0], words[1]) : 0;
}

double quotaV1(const std::string& directory) {
  return ratio(firstLine(directory + "/cpu.cfs_quota_us"), firstLine(directory + "/cpu.cfs_period_us"));
}

// In a container the cgroup path may be the host's, of which only the end, or nothing, is mounted: missing
// directories set no limit, and the mount itself is always read.
double leastUpwards(const std::string& mount, std::string path, double (*quota_of)(const std::string&)) {
  double least = 0;
  while (true) {
    while (path.ends_with('/')) path.pop_back();
    const double quota = quota_of(mount + path);
    if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
    if (path.empty()) return least;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

}  // namespace

double cgroupCpuQuota(const std::string& root) {
  const Result<std::string> groups = sys::readFile(root + "/proc/self/cgroup");
  if (!groups.ok()) return 0;
  const std::string mounts = root + "/sys/fs/cgroup";
  double v2 = 0;
  for (const std::string& line : split(groups.value(), '\n')) {
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t path = line.find(':', controllers) + 1;
    if (controllers == 0 || path == 0) continue;
    const std::string names = line.substr(controllers, path - 1 - controllers);
    if (names.empty()) {
      v2 = leastUpwards(mounts, line.substr(path), quotaV2);
      continue;
    }
    const std::vector<std::string> each = split(names, ',');
    if (std::find(each.begin(), each.end(), "cpu") == each.end()) continue;
    return leastUpwards(mounts + "/cpu", line.substr(path), quotaV1);  // as a link, where it has company
  }
  return v2;
}

}  // namespace pop::agent
