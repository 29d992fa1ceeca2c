// SPDX-License-Identifier: Apache-2.0
// The needs of jobs and the stock of Pods, in the queue's terms.
#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "popdistd/partitions/partition_plan.h"
#include "popdistd/pods/holder_id.h"
#include "popdistd/pods/job_leases.h"
#include "popdistd/pods/needed_partition.h"

namespace pop::popdistd {
namespace {

using vipu::Partition;

LeaseNeed needOf(LeaseNeed::Kind kind, std::string reason) {
  LeaseNeed need;
  need.kind = kind;
  need.reason = std::move(reason);
  return need;
}

std::vector<queue::IldIpus> ipusOf(const Partition& partition) {
  std::vector<queue::IldIpus> ipus;
  for (const vipu::PartitionIpu& each : partition.spec.ipus) {
    const auto ild = static_cast<std::size_t>(each.ild_topology_id);
    auto found = std::find_if(ipus.begin(), ipus.end(), [&](const auto& known) { return known.ild == ild; });
    if (found == ipus.end()) found = ipus.insert(ipus.end(), {ild, 0});
    found->ipus |= vipu::IpuMask{1} << each.topology_id;
  }
  return ipus;
}

}  // namespace

LeaseNeed JobLeases::need(const LeaseRequest& request) {
  const std::string& name = request.spec.partition.name;
  if (name.empty()) return {};
  const Partition* const partition = table().find(name);
  if (partition == nullptr) return needOfNew(request);
  const std::string self = holderOf(request.job);
  if (partition->job == self) return {};
  LeaseNeed need;
  need.kind = LeaseNeed::Kind::kPartition;
  need.partition = name;
  if (jobOf(partition->job)) return need;
  const LeaseAnswer answer = look(request);
  if (answer.kind == LeaseAnswer::Kind::kNever) return needOf(LeaseNeed::Kind::kNever, answer.reason);
  if (answer.kind == LeaseAnswer::Kind::kWaits) return needOf(LeaseNeed::Kind::kBlocked, answer.reason);
  return need;
}

// plan() says if the partition can exist at all; the free IPUs say where.
LeaseNeed JobLeases::needOfNew(const LeaseRequest& request) const {
  const vipu::PartitionTable& known = partitions_.table();
  const Caller submitter = submitterOf(request);
  const Result<vipu::CreateRequest> made = requestOf(request, PodAccess::isAdmin(submitter));
  if (!made.ok()) return needOf(LeaseNeed::Kind::kNever, made.status().message());
  const Status planned = known.plan(made.value()).status();
  if (!planned.ok() && planned.code() != Code::kResourceExhausted)
    return needOf(LeaseNeed::Kind::kNever, planned.message());
  const vipu::PartitionRequirements& wanted = made.value().requirements;
  vipu::PartitionSpec spec = vipu::specOf(wanted).value();
  LeaseNeed need;
  need.kind = LeaseNeed::Kind::kBlock;
  need.segments = spec.num_segments;
  need.segment_ipus = spec.segmentIpus();
  for (const auto& [id, allocation] : known.inventory().allocations()) {
    if (!wanted.allocation.empty() && wanted.allocation != id) continue;
    if (PodAccess::mayUse(submitter, allocation) &&
        vipu::setRouting(wanted, *known.inventory().cluster(allocation.cluster), spec).ok())
      need.allocations.push_back(id);
  }
  return need;
}

Presence JobLeases::presenceOf(const std::string& id) const {
  const Partition* const partition = partitions_.table().find(id);
  if (partition == nullptr) return Presence::kNotThere;
  return jobOf(partition->job) ? Presence::kHeldByJob : Presence::kThere;
}

PodRoom JobLeases::room() const {
  const vipu::PartitionTable& known = partitions_.table();
  PodRoom room;
  for (const auto& [id, allocation] : known.inventory().allocations())
    room.pools.push_back({id, known.inventory().usableIpusOf(allocation)});
  for (const auto& [id, partition] : known.partitions()) {
    const bool goes = !partition.goes_with.empty() && partition.goes_with == partition.job;
    room.owned.push_back(
        {partition.spec.allocation, ipusOf(partition), goes ? jobOf(partition.job).value_or(0) : 0});
  }
  return room;
}

Status JobLeases::checkAllocation(const Caller& caller, const std::string& id) const {
  const vipu::Allocation* const allocation = partitions_.table().inventory().allocation(id);
  if (allocation != nullptr && PodAccess::mayUse(caller, *allocation)) return {};
  return {Code::kNotFound,
          "there is no allocation " + inQuotes(id) + ", or not for user " + inQuotes(caller.user)};
}

std::set<std::string> JobLeases::hostsOf(const std::string& id) const {
  const vipu::Inventory& inventory = partitions_.table().inventory();
  std::set<std::string> hosts;
  const vipu::Allocation* const allocation = inventory.allocation(id);
  if (allocation == nullptr) return hosts;
  for (const vipu::Agent* const agent : inventory.agentsOf(*allocation)) {
    if (!agent->host.empty()) hosts.insert(agent->host);
  }
  return hosts;
}

std::string JobLeases::allocationOf(const std::string& id) const {
  const Partition* const partition = partitions_.table().find(id);
  return partition == nullptr ? "" : partition->spec.allocation;
}

}  // namespace pop::popdistd
