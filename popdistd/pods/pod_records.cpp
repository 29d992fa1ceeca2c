// SPDX-License-Identifier: Apache-2.0
#include "popdistd/pods/pod_records.h"

#include <algorithm>
#include <tuple>

#include "common/base/text.h"
#include "popdistd/pods/holder_id.h"

namespace pop::popdistd {
namespace {

constexpr std::size_t kMostWordBytes = 256;

using std::chrono::milliseconds;

#define POP_SAME_NUMBER(ours, theirs) \
  static_assert(static_cast<int>(ours) == static_cast<int>(v1::theirs), #ours)
POP_SAME_NUMBER(vipu::IldTopology::kTorus, ILD_TORUS);
POP_SAME_NUMBER(vipu::GatewayTopology::kSwitched, GATEWAY_SWITCHED);
POP_SAME_NUMBER(vipu::IpuLinkRouting::kRingSwnc, LINK_ROUTING_RINGSWNC);
POP_SAME_NUMBER(vipu::GatewayRouting::kSwRing, GATEWAY_ROUTING_SWRING);
POP_SAME_NUMBER(vipu::SyncType::kPodNativeReplicatedPipeline, SYNC_POD_NATIVE_REPLICATED_PIPELINE);
POP_SAME_NUMBER(vipu::PartitionState::kQuarantine, PARTITION_QUARANTINE);
#undef POP_SAME_NUMBER

google::protobuf::Timestamp messageOf(vipu::Time time) {
  return timestamp(std::chrono::system_clock::time_point(time));
}

void putIpus(const vipu::PartitionSpec& spec, v1::PartitionInfo& info) {
  for (const vipu::PartitionIpu& ipu : spec.ipus) {
    v1::PodIpu& added = *info.add_ipus();
    added.set_ild(ipu.ild_topology_id);
    added.set_ipu(ipu.topology_id);
    added.set_ild_routing_id(ipu.ild_routing_id);
    added.set_routing_id(ipu.routing_id);
  }
}

vipu::PartitionSpec specOf(const v1::PartitionInfo& info) {
  vipu::PartitionSpec spec{.cluster = info.cluster(), .allocation = info.allocation()};
  for (const v1::PodIpu& ipu : info.ipus())
    spec.ipus.push_back({ipu.ild(), ipu.ild_routing_id(), ipu.ipu(), ipu.routing_id()});
  spec.routing = static_cast<vipu::IpuLinkRouting>(info.routing());
  spec.gw_routing = static_cast<vipu::GatewayRouting>(info.gateway_routing());
  spec.sync = static_cast<vipu::SyncType>(info.sync());
  spec.size = info.size();
  spec.num_segments = info.num_segments();
  spec.num_gcds = info.num_gcds();
  spec.num_replicas = info.num_replicas();
  spec.reconfigurable = info.reconfigurable();
  return spec;
}

bool hasKnownValues(const v1::PartitionRecord& record) {
  const v1::PartitionInfo& info = record.info();
  return v1::PartitionState_IsValid(info.state()) && v1::LinkRouting_IsValid(info.routing()) &&
         v1::GatewayRouting_IsValid(info.gateway_routing()) && v1::SyncKind_IsValid(info.sync()) &&
         record.ready_before_removing() >= static_cast<int>(vipu::ReadyState::kPending) &&
         record.ready_before_removing() <= static_cast<int>(vipu::ReadyState::kError);
}

}  // namespace

vipu::Time timeOf(const WallClock& clock) {
  return std::chrono::floor<milliseconds>(clock());
}

Result<vipu::Cluster> clusterOf(const v1::ClusterInfo& message) {
  if (!v1::IldTopology_IsValid(message.topology()))
    return invalidArgument("topology " + std::to_string(message.topology()) + " is not one of a cluster");
  if (!v1::GatewayTopology_IsValid(message.gateways()))
    return invalidArgument("gateways " + std::to_string(message.gateways()) + " are not those of a cluster");
  return vipu::Cluster{
      .id = message.id(),
      .shape = {.ilds = message.has_num_ilds() ? message.num_ilds() : 1,
                .machines_per_ild =
                    message.has_machines_per_ild() ? message.machines_per_ild() : vipu::kMaxIldMachines,
                .topology = static_cast<vipu::IldTopology>(message.topology()),
                .gateways = static_cast<vipu::GatewayTopology>(message.gateways())}};
}

v1::ClusterInfo messageOf(const vipu::Cluster& cluster) {
  v1::ClusterInfo message;
  message.set_id(cluster.id);
  message.set_num_ilds(cluster.shape.ilds);
  message.set_machines_per_ild(cluster.shape.machines_per_ild);
  message.set_topology(static_cast<v1::IldTopology>(cluster.shape.topology));
  message.set_gateways(static_cast<v1::GatewayTopology>(cluster.shape.gateways));
  return message;
}

vipu::Agent agentOf(const v1::AgentInfo& message) {
  return {.id = message.id(),
          .cluster = message.cluster(),
          .ild = message.ild(),
          .position = message.position(),
          .host = bounded(printable(message.host()), kMostWordBytes),
          .ip = bounded(printable(message.ip()), kMostWordBytes),
          .gwsw_version = bounded(printable(message.gwsw_version()), kMostWordBytes),
          .ipum_sw_version = bounded(printable(message.ipum_sw_version()), kMostWordBytes),
          .drained = std::nullopt};
}

v1::AgentInfo messageOf(const vipu::Agent& agent) {
  v1::AgentInfo message;
  message.set_id(agent.id);
  message.set_cluster(agent.cluster);
  message.set_ild(agent.ild);
  message.set_position(agent.position);
  message.set_host(agent.host);
  message.set_ip(agent.ip);
  message.set_gwsw_version(agent.gwsw_version);
  message.set_ipum_sw_version(agent.ipum_sw_version);
  message.set_lost(agent.lost);
  message.set_drained(agent.drained.has_value());
  message.set_drain_reason(agent.drained.value_or(""));
  return message;
}

vipu::Allocation allocationOf(const v1::AllocationInfo& message) {
  return {.id = message.id(),
          .cluster = message.cluster(),
          .agents = {message.agents().begin(), message.agents().end()},
          .users = {message.users().begin(), message.users().end()}};
}

v1::AllocationInfo messageOf(const vipu::Allocation& allocation) {
  v1::AllocationInfo message;
  message.set_id(allocation.id);
  message.set_cluster(allocation.cluster);
  for (const std::string& agent : allocation.agents) message.add_agents(agent);
  for (const std::string& user : allocation.users) message.add_users(user);
  return message;
}

v1::Capacity messageOf(const vipu::Capacity& capacity) {
  v1::Capacity message;
  message.set_ipus(capacity.ipus);
  message.set_owned(capacity.owned);
  message.set_unusable(capacity.unusable);
  message.set_free(capacity.free);
  message.set_largest_free_block(capacity.largest_free_block);
  message.set_fragmentation(capacity.fragmentation);
  return message;
}

v1::PartitionInfo messageOf(const vipu::Partition& partition) {
  v1::PartitionInfo info;
  info.set_id(partition.id);
  info.set_owner(partition.owner);
  info.set_cluster(partition.spec.cluster);
  info.set_allocation(partition.spec.allocation);
  info.set_state(static_cast<v1::PartitionState>(partition.state));
  info.set_vipu_state(stateText(partition));
  info.set_size(partition.spec.size);
  info.set_num_segments(partition.spec.num_segments);
  info.set_num_gcds(partition.spec.num_gcds);
  info.set_num_replicas(partition.spec.num_replicas);
  info.set_reconfigurable(partition.spec.reconfigurable);
  info.set_routing(static_cast<v1::LinkRouting>(partition.spec.routing));
  info.set_gateway_routing(static_cast<v1::GatewayRouting>(partition.spec.gw_routing));
  info.set_sync(static_cast<v1::SyncKind>(partition.spec.sync));
  putIpus(partition.spec, info);
  for (const std::string& error : partition.errors) info.add_errors(validUtf8(error));
  info.set_job(jobOf(partition.job).value_or(0));
  if (!tokenOf(partition.job).empty()) info.set_holder(holderText(partition.job));
  info.set_goes_with_job(jobOf(partition.goes_with).value_or(0));
  info.set_relocatable(partition.relocatable);
  info.set_auto_reset(partition.auto_reset.enabled);
  info.set_max_auto_resets(partition.auto_reset.max_retries);
  info.set_auto_resets(partition.auto_reset.retry_count);
  if (partition.auto_reset.last) *info.mutable_last_auto_reset() = messageOf(*partition.auto_reset.last);
  *info.mutable_created() = messageOf(partition.created);
  *info.mutable_changed() = messageOf(partition.changed);
  return info;
}

std::string recordOf(const vipu::Partition& partition) {
  v1::PartitionRecord record;
  *record.mutable_info() = messageOf(partition);
  record.mutable_info()->clear_vipu_state();
  record.set_may_relocate(partition.may_relocate);
  record.set_ready_before_removing(static_cast<int>(partition.ready_before_removing));
  record.set_held_by(partition.job);
  if (!tokenOf(partition.goes_with).empty()) record.set_goes_with(partition.goes_with);
  return record.SerializeAsString();
}

Result<vipu::Partition> partitionOf(const StoredPartition& stored) {
  const auto damaged = [&](const std::string& what) {
    return Status(Code::kDataLoss, "the store's record of partition " + inQuotes(stored.id) + ' ' + what);
  };
  v1::PartitionRecord record;
  if (!record.ParseFromString(stored.bytes) || record.info().id() != stored.id || !hasKnownValues(record))
    return damaged("cannot be read");
  const v1::PartitionInfo& info = record.info();
  vipu::Partition partition{.id = info.id(), .owner = info.owner(), .spec = specOf(info)};
  partition.relocatable = info.relocatable();
  partition.may_relocate = record.may_relocate();
  partition.auto_reset = {.enabled = info.auto_reset(),
                          .max_retries = info.max_auto_resets(),
                          .retry_count = info.auto_resets(),
                          .last = std::nullopt};
  if (info.has_last_auto_reset()) partition.auto_reset.last = timeOf(info.last_auto_reset());
  partition.state = static_cast<vipu::PartitionState>(info.state());
  partition.ready_before_removing = static_cast<vipu::ReadyState>(record.ready_before_removing());
  partition.errors = {info.errors().begin(), info.errors().end()};
  partition.job = record.held_by();
  partition.goes_with = info.goes_with_job() != 0 ? holderOf(info.goes_with_job()) : record.goes_with();
  partition.created = timeOf(info.created());
  partition.changed = timeOf(info.changed());
  if (jobOf(partition.job) != stored.job)
    return damaged("names another job than the one that is bound to it");
  if (ipuKeysOf(partition) != stored.ipus) return damaged("names other IPUs than those that it owns");
  return partition;
}

std::vector<IpuKey> ipuKeysOf(const vipu::Partition& partition) {
  std::vector<IpuKey> keys;
  keys.reserve(partition.spec.ipus.size());
  for (const vipu::PartitionIpu& ipu : partition.spec.ipus)
    keys.push_back({partition.spec.cluster, ipu.ild_topology_id, ipu.topology_id});
  std::sort(keys.begin(), keys.end(), [](const IpuKey& a, const IpuKey& b) {
    return std::tie(a.cluster, a.ild, a.ipu) < std::tie(b.cluster, b.ild, b.ipu);
  });
  return keys;
}

}  // namespace pop::popdistd
