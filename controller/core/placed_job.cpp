// SPDX-License-Identifier: Apache-2.0
#include "controller/core/placed_job.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"

namespace pop {

PlacedJob::PlacedJob(model::JobSpec spec)
    : spec_(std::move(spec)), placement_(model::place(spec_)), envs_(spec_, placement_) {
  int first = 0;
  std::vector<HostInstances> with_instances;
  for (int host = 0; host < static_cast<int>(spec_.hosts.size()); ++host) {
    const int count = envs_.instancesOn(host);
    instances_on_.push_back({first, first + count});
    if (count > 0) with_instances.push_back({spec_.hosts[static_cast<std::size_t>(host)].name, first, count});
    first += count;
  }
  hosts_ = std::make_shared<const std::vector<HostInstances>>(std::move(with_instances));
}

std::vector<PlacedInstance> PlacedJob::instances(const std::vector<model::Bindings>& bindings) const {
  std::vector<PlacedInstance> instances;
  for (const model::InstancePlacement& each : placement_) {
    const auto host = static_cast<std::size_t>(each.host);
    instances.push_back(
        {spec_.hosts[host].name, bindings[host].instances[static_cast<std::size_t>(each.local_instance)]});
  }
  return instances;
}

JobSlice PlacedJob::slice(int host, const std::string& job_id, int restart_count,
                          const contract::Rendezvous& rendezvous, const model::Bindings& bindings) const {
  JobSlice slice{.job_id = job_id,
                 .num_instances = spec_.num_instances,
                 .programs = spec_.programs,
                 .hosts = hosts_,
                 .rendezvous = rendezvous,
                 .poplar = envs_.poplarTarget(),
                 .env_families = spec_.env_families,
                 .environment = spec_.environment,
                 .stdin_policy = spec_.stdin_policy,
                 .kill_grace = spec_.kill_grace};
  const Range range = instancesOn(host);
  for (int instance = range.first; instance < range.end; ++instance) {
    slice.instances.push_back(
        envs_.order(placement_[static_cast<std::size_t>(instance)], job_id, restart_count));
    slice.instances.back().binding = bindings.instances[static_cast<std::size_t>(instance - range.first)];
  }
  return slice;
}

Result<model::JobSpec> PlacedJob::without(const std::vector<bool>& gone) const {
  model::JobSpec rest = spec_;
  rest.min_hosts = model::minHosts(spec_);
  rest.hosts.clear();
  for (std::size_t host = 0; host < gone.size(); ++host) {
    if (!gone[host]) rest.hosts.push_back(spec_.hosts[host]);
  }
  const int hosts = static_cast<int>(rest.hosts.size());
  if (hosts == 0) return failedPrecondition("none of its hosts is left");
  if (hosts < *rest.min_hosts) {
    return failedPrecondition("only " + std::to_string(hosts) + " of its hosts " +
                              (hosts == 1 ? "is" : "are") + " left; it needs at least " +
                              std::to_string(*rest.min_hosts) + " (--min-hosts)");
  }
  const std::vector<std::string> mistakes = model::findMistakes(rest);
  if (!mistakes.empty()) {
    return failedPrecondition("on the " + counted(hosts, "host") + " that " + (hosts == 1 ? "is" : "are") +
                              " left: " + mistakes.front());
  }
  return rest;
}

}  // namespace pop
