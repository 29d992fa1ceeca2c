// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/instances_here.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "proto/popdist/v1/job.pb.h"

namespace pop::agent {

// As placements do: a host that says how many fit gets these first, else all get the same.
Result<int> instancesOnFirstHost(const std::string& spec) {
  popdist::v1::JobSpec decoded;
  if (!decoded.ParseFromString(spec)) return invalidArgument("the job that popdistd has sent is malformed");
  std::int64_t all = 0;
  for (const auto& program : decoded.programs())
    all += program.has_num_instances() ? std::max(1, program.num_instances()) : 1;
  if (decoded.has_num_instances()) all = decoded.num_instances();
  const std::int64_t hosts = std::max(1, decoded.hosts_size());
  const std::int64_t slots = decoded.hosts_size() > 0 ? decoded.hosts(0).slots() : 0;
  const std::int64_t here = hosts > 1 && slots > 0 ? std::min(all, slots) : (all + hosts - 1) / hosts;
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp<std::int64_t>(here, 0, kMost));
}

}  // namespace pop::agent
