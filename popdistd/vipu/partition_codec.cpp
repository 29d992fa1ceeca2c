// SPDX-License-Identifier: Apache-2.0
#include "popdistd/vipu/partition_codec.h"

#include <algorithm>
#include <limits>
#include <string>

#include "common/base/text.h"

namespace pop::vipu {
namespace {

#define POP_SAME_NUMBER(ours, theirs) \
  static_assert(static_cast<int>(ours) == static_cast<int>(virmgrpc::theirs), #ours)
POP_SAME_NUMBER(IpuLinkRouting::kUndefined, IRT_UNDEFINED);
POP_SAME_NUMBER(IpuLinkRouting::kDnc, IRT_DNC);
POP_SAME_NUMBER(IpuLinkRouting::kSwnc, IRT_SWNC);
POP_SAME_NUMBER(IpuLinkRouting::kBtnc, IRT_BTNC);
POP_SAME_NUMBER(IpuLinkRouting::kRingSwnc, IRT_RINGSWNC);
POP_SAME_NUMBER(GatewayRouting::kUndefined, GRT_UNDEFINED);
POP_SAME_NUMBER(GatewayRouting::kRing, GRT_RING);
POP_SAME_NUMBER(GatewayRouting::kSwRing, GRT_SWRING);
POP_SAME_NUMBER(SyncType::kUndefined, ST_UNDEFINED);
POP_SAME_NUMBER(SyncType::kGs2Default, ST_GS2_DEFAULT);
POP_SAME_NUMBER(SyncType::kGs2IndependentRails, ST_GS2_INDEPENDENT_RAILS);
POP_SAME_NUMBER(SyncType::kPodNativeDefault, ST_POD_NATIVE_DEFAULT);
POP_SAME_NUMBER(SyncType::kPodNativeReplicatedPipeline, ST_POD_NATIVE_REPLICATED_PIPELINE);
POP_SAME_NUMBER(ReadyState::kPending, PS_PENDING);
POP_SAME_NUMBER(ReadyState::kActive, PS_ACTIVE);
POP_SAME_NUMBER(ReadyState::kRemoved, PS_REMOVED);
POP_SAME_NUMBER(ReadyState::kError, PS_ERROR);
POP_SAME_NUMBER(OperationState::kIdle, POS_IDLE);
POP_SAME_NUMBER(OperationState::kCreating, POS_CREATING);
POP_SAME_NUMBER(OperationState::kRemoving, POS_REMOVING);
POP_SAME_NUMBER(OperationState::kResetting, POS_RESETTING);
POP_SAME_NUMBER(OperationState::kFailed, POS_FAILED);
#undef POP_SAME_NUMBER

Status unknownValue(const char* field, int value) {
  return invalidArgument(std::string(field) + ' ' + std::to_string(value) + " is not a value of V-IPU's API");
}

// Beyond int is beyond every range that is checked later.
int signedOf(std::uint32_t value) {
  return static_cast<int>(std::min(value, std::uint32_t{std::numeric_limits<int>::max()}));
}

std::uint32_t unsignedOf(int value) {
  return static_cast<std::uint32_t>(value);
}

void put(const Agent& machine, virmgrpc::ListIPUAttributesReply& reply) {
  virmgrpc::ListIPUAttributesReply::Entry& entry = *reply.add_entries();
  entry.set_agent(machine.id);
  for (const auto& [ipu, attributes] : ipuAttributes(machine)) {
    auto& added = *(*entry.mutable_ipu_attributes())[unsignedOf(ipu)].mutable_attributes();
    for (const auto& [key, value] : attributes) added[key] = value;
  }
}

void put(const IpuofDevice& device, virmgrpc::IpuofDevice& message) {
  message.set_ip(device.ip);
  message.set_server_port(unsignedOf(device.server_port));
  message.set_rdma_port(unsignedOf(device.rdma_port));
  message.set_device_id(unsignedOf(device.device_id));
  message.set_ipulink_segment_id(unsignedOf(device.ipulink_segment_id));
  message.set_routing_id(unsignedOf(device.routing_id));
  message.set_ipu_arch_id(unsignedOf(device.ipu_arch_id));
  message.set_ipu_id(unsignedOf(device.ipu_id));
  message.set_chip_id(device.chip_id);
  message.set_gwsw_version(device.gwsw_version);
  message.set_ipum_sw_version(device.ipum_sw_version);
}

}  // namespace

Result<CreateRequest> fromWire(const virmgrpc::CreatePartitionRequest& message) {
  const virmgrpc::PartitionRequirements& asked = message.requirements();
  if (!virmgrpc::IpuLinkRoutingType_IsValid(asked.ipulink_routing_type()))
    return unknownValue("ipulink_routing_type", asked.ipulink_routing_type());
  if (!virmgrpc::GatewayRoutingType_IsValid(asked.gw_routing_type()))
    return unknownValue("gw_routing_type", asked.gw_routing_type());
  if (!virmgrpc::SyncType_IsValid(asked.sync_type())) return unknownValue("sync_type", asked.sync_type());
  CreateRequest request;
  request.disable_auto_reset = message.disable_auto_reset();
  request.relocatable = message.relocatable();
  PartitionRequirements& requirements = request.requirements;
  requirements.id = asked.id();
  requirements.size = asked.size();
  requirements.cluster = asked.cluster_id();
  requirements.allocation = asked.allocation_id();
  requirements.routing = static_cast<IpuLinkRouting>(asked.ipulink_routing_type());
  requirements.gw_routing = static_cast<GatewayRouting>(asked.gw_routing_type());
  requirements.sync = static_cast<SyncType>(asked.sync_type());
  requirements.num_segments = asked.num_ipulink_segments();
  requirements.num_gcds = asked.num_gcds();
  requirements.num_replicas = asked.num_replicas();
  requirements.reconfigurable = asked.reconfigurable();
  for (const virmgrpc::PartitionIpu& ipu : asked.ipus())
    requirements.ipus.push_back({signedOf(ipu.ipulink_domain_topology_id()),
                                 signedOf(ipu.ipulink_domain_routing_id()), signedOf(ipu.topology_id()),
                                 signedOf(ipu.routing_id())});
  return request;
}

virmgrpc::PartitionSpec toWire(const PartitionSpec& spec) {
  virmgrpc::PartitionSpec message;
  message.set_cluster_id(spec.cluster);
  for (const PartitionIpu& ipu : spec.ipus) {
    virmgrpc::PartitionIpu& added = *message.add_ipus();
    added.set_ipulink_domain_topology_id(unsignedOf(ipu.ild_topology_id));
    added.set_ipulink_domain_routing_id(unsignedOf(ipu.ild_routing_id));
    added.set_topology_id(unsignedOf(ipu.topology_id));
    added.set_routing_id(unsignedOf(ipu.routing_id));
  }
  message.set_ipulink_routing_type(static_cast<virmgrpc::IpuLinkRoutingType>(spec.routing));
  message.set_sync_type(static_cast<virmgrpc::SyncType>(spec.sync));
  message.set_num_gcds(unsignedOf(spec.num_gcds));
  message.set_num_ipulink_segments(unsignedOf(spec.num_segments));
  message.set_reconfigurable(spec.reconfigurable);
  message.set_gw_routing_type(static_cast<virmgrpc::GatewayRoutingType>(spec.gw_routing));
  message.set_num_replicas(unsignedOf(spec.num_replicas));
  message.set_allocation_id(spec.allocation);
  return message;
}

virmgrpc::Partition toWire(const Partition& partition, std::string_view ipuof_server_version) {
  virmgrpc::Partition message;
  message.set_id(partition.id);
  *message.mutable_spec() = toWire(partition.spec);
  message.set_ready_state(static_cast<virmgrpc::PartitionReadyState>(readyState(partition)));
  message.set_ipuof_server_version(std::string(ipuof_server_version));
  return message;
}

virmgrpc::PartitionStatus statusToWire(const Partition& partition) {
  virmgrpc::PartitionStatus message;
  message.set_partition_id(partition.id);
  message.set_ready_state(static_cast<virmgrpc::PartitionReadyState>(readyState(partition)));
  message.set_operation_state(static_cast<virmgrpc::PartitionOperationState>(operationState(partition)));
  for (const std::string& error : partition.errors) message.add_errors(validUtf8(error));
  message.set_max_auto_reset_retries(
      partition.auto_reset.enabled ? unsignedOf(partition.auto_reset.max_retries) : 0);
  message.set_auto_reset_retry_count(unsignedOf(partition.auto_reset.retry_count));
  if (const auto& last = partition.auto_reset.last) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(*last);
    const std::chrono::nanoseconds rest = *last - seconds;
    message.mutable_last_auto_reset_time()->set_seconds(seconds.time_since_epoch().count());
    message.mutable_last_auto_reset_time()->set_nanos(static_cast<std::int32_t>(rest.count()));
  }
  return message;
}

virmgrpc::PartitionConfig toWire(const PartitionSpec& spec, const std::vector<GcdConfig>& gcds,
                                 std::string_view ipuof_server_version) {
  virmgrpc::PartitionConfig message;
  message.set_ipulink_routing_type(static_cast<virmgrpc::IpuLinkRoutingType>(spec.routing));
  message.set_sync_type(static_cast<virmgrpc::SyncType>(spec.sync));
  message.set_reconfigurable(spec.reconfigurable);
  message.set_gw_routing_type(static_cast<virmgrpc::GatewayRoutingType>(spec.gw_routing));
  message.set_num_ipulink_segments(unsignedOf(spec.num_segments));
  for (const GcdConfig& gcd : gcds) {
    virmgrpc::PartitionConfig::Gcd& added = *message.add_gcd_configs();
    for (const IpuofDevice& device : gcd.devices) put(device, *added.add_devices());
    for (const auto& [key, value] : gcd.attributes) (*added.mutable_attributes())[key] = value;
  }
  message.set_ipuof_server_version(std::string(ipuof_server_version));
  return message;
}

Result<virmgrpc::ListIPUAttributesReply> ipuAttributesToWire(
    const virmgrpc::ListIPUAttributesRequest& request, const Inventory& inventory) {
  virmgrpc::ListIPUAttributesReply reply;
  for (const std::string& id : request.agents()) {
    const Agent* const machine = inventory.agent(id);
    if (!machine) return Status(Code::kNotFound, "there is no agent " + inQuotes(id) + " (agents)");
    put(*machine, reply);
  }
  if (request.agents().empty())
    for (const auto& [id, machine] : inventory.agents()) put(machine, reply);
  return reply;
}

virmgrpc::Allocation toWire(const Allocation& allocation) {
  virmgrpc::Allocation message;
  message.set_id(allocation.id);
  message.mutable_spec()->set_cluster_id(allocation.cluster);
  for (const std::string& agent : allocation.agents) message.mutable_spec()->add_agent_ids(agent);
  return message;
}

}  // namespace pop::vipu
