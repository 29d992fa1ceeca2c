// SPDX-License-Identifier: Apache-2.0
#include "popdistd/partitions/ipuof.h"

#include <algorithm>

#include "common/base/json.h"
#include "common/base/text.h"

namespace pop::vipu {
namespace {

constexpr int kServerPort = 50052;  // of a machine's first IPU; the others follow
constexpr int kRdmaPort = 7471;
constexpr int kMk2Architecture = 2;

const Agent& machineOf(const PartitionSpec& spec, const PartitionIpu& ipu, const Inventory& inventory) {
  return *inventory.agentAt(spec.cluster, ipu.ild_topology_id, ipu.topology_id / kMachineIpus);
}

// As in an IPU-M2000, ports run upwards with the IPUs of a machine, and device ids downwards.
IpuofDevice deviceOf(const PartitionIpu& ipu, const Agent& machine) {
  const int in_machine = ipu.topology_id % kMachineIpus;
  const int device_id = kMachineIpus - 1 - in_machine;
  return {.ip = machine.ip,
          .server_port = kServerPort + in_machine,
          .rdma_port = kRdmaPort + in_machine,
          .device_id = device_id,
          .ipulink_segment_id = ipu.ild_routing_id,
          .routing_id = ipu.routing_id,
          .ipu_arch_id = kMk2Architecture,
          .ipu_id = device_id,
          .chip_id = "emulated." + machine.id + '.' + std::to_string(device_id),
          .gwsw_version = machine.gwsw_version,
          .ipum_sw_version = machine.ipum_sw_version};
}

// "GCD Id" is only told where there are several: readers take 0 if it is missing.
std::map<std::string, std::string> attributesOf(const PartitionSpec& spec, std::uint32_t gcd) {
  std::map<std::string, std::string> attributes{
      {"Fabric Reconfigurable", spec.reconfigurable ? "true" : "false"},
      {"IPU version", "ipu2"},
      {"Num Replicas", std::to_string(spec.num_replicas)},
      {"Routing Type", nameOf(spec.routing)},
      {"Sync Type", nameOf(spec.sync)},
  };
  if (spec.num_gcds > 1) attributes.emplace("GCD Id", std::to_string(gcd));
  return attributes;
}

Status checkActive(const Partition& partition) {
  if (partition.state == PartitionState::kActive) return {};
  return failedPrecondition("partition " + inQuotes(partition.id) + " is " + stateText(partition) +
                            ": its IPUs can be used when it is ACTIVE/IDLE");
}

GcdConfig configOf(const PartitionSpec& spec, std::uint32_t gcd, const Inventory& inventory) {
  const std::size_t ipus = spec.ipus.size() / static_cast<std::size_t>(spec.num_gcds);
  GcdConfig config{.devices = {}, .attributes = attributesOf(spec, gcd)};
  for (std::size_t i = gcd * ipus; i < (gcd + 1) * ipus; ++i)
    config.devices.push_back(deviceOf(spec.ipus[i], machineOf(spec, spec.ipus[i], inventory)));
  return config;
}

constexpr std::string_view kIndent = "    ";

std::string indent(int depth) {
  std::string blanks;
  for (int i = 0; i < depth; ++i) blanks += kIndent;
  return blanks;
}

// Protobuf's JSON of several lines, as V-IPU writes it: two blanks after each colon.
class Lines {
 public:
  explicit Lines(int depth) : depth_(depth) {}

  void add(std::string_view key, std::string_view json) {
    entry(jsonQuoted(key) + ":  " + std::string(json));
  }
  void entry(std::string_view json) {
    text_ += (text_.empty() ? "\n" : ",\n") + indent(depth_ + 1);
    text_ += json;
  }
  std::string in(char open, char close) const {
    return text_.empty() ? std::string{open, close} : open + text_ + '\n' + indent(depth_) + close;
  }

 private:
  const int depth_;
  std::string text_;
};

std::string deviceText(const IpuofDevice& device) {
  Lines lines(2);
  lines.add("ip", jsonQuoted(device.ip));
  lines.add("server_port", std::to_string(device.server_port));
  lines.add("rdma_port", std::to_string(device.rdma_port));
  lines.add("device_id", std::to_string(device.device_id));
  lines.add("ipulink_segment_id", std::to_string(device.ipulink_segment_id));
  lines.add("routing_id", std::to_string(device.routing_id));
  lines.add("ipu_arch_id", std::to_string(device.ipu_arch_id));
  lines.add("ipu_id", std::to_string(device.ipu_id));
  lines.add("chip_id", jsonQuoted(device.chip_id));
  lines.add("gwsw_version", jsonQuoted(device.gwsw_version));
  return lines.in('{', '}');
}

std::vector<std::string> hostsOf(const Allocation& allocation, const Inventory& inventory, bool only_usable) {
  std::vector<std::string> hosts;
  for (const Agent* const machine : inventory.agentsOf(allocation)) {
    if ((!only_usable || machine->usable()) &&
        std::find(hosts.begin(), hosts.end(), machine->host) == hosts.end())
      hosts.push_back(machine->host);
  }
  return hosts;
}

}  // namespace

Result<GcdConfig> gcdConfig(const Partition& partition, std::uint32_t gcd, const Inventory& inventory) {
  if (gcd >= static_cast<std::uint32_t>(partition.spec.num_gcds))
    return Status(Code::kNotFound, "partition " + inQuotes(partition.id) + " has " +
                                       counted(partition.spec.num_gcds, "GCD") +
                                       ", counted from 0: there is no GCD " + std::to_string(gcd));
  POP_RETURN_IF_ERROR(checkActive(partition));
  return configOf(partition.spec, gcd, inventory);
}

Result<std::vector<GcdConfig>> gcdConfigs(const Partition& partition, const Inventory& inventory) {
  POP_RETURN_IF_ERROR(checkActive(partition));
  std::vector<GcdConfig> configs;
  for (std::uint32_t gcd = 0; gcd < static_cast<std::uint32_t>(partition.spec.num_gcds); ++gcd)
    configs.push_back(configOf(partition.spec, gcd, inventory));
  return configs;
}

std::string ipuofFileText(const GcdConfig& config) {
  Lines devices(1);
  for (const IpuofDevice& device : config.devices) devices.entry(deviceText(device));
  Lines attributes(1);
  for (const auto& [key, value] : config.attributes) attributes.add(key, jsonQuoted(value));
  Lines file(0);
  file.add("devices", devices.in('[', ']'));
  file.add("attributes", attributes.in('{', '}'));
  return file.in('{', '}') + '\n';
}

std::string ipuofFileName(std::string_view partition, std::uint32_t gcd) {
  return std::string(partition) + "_gcd" + std::to_string(gcd) + "_ipuof.conf";
}

std::map<int, std::map<std::string, std::string>> ipuAttributes(const Agent& machine) {
  std::map<int, std::map<std::string, std::string>> by_ipu;
  for (int ipu_id = 0; ipu_id < kMachineIpus; ++ipu_id) {
    by_ipu[ipu_id] = {{"board ipu index", std::to_string(ipu_id)},
                      {"board serial number", "emulated." + machine.id},
                      {"board type", "M2000"},
                      {"clock", "1330MHz"}};
  }
  return by_ipu;
}

std::vector<std::string> gcdHosts(const PartitionSpec& spec, const Inventory& inventory) {
  const Allocation& allocation = *inventory.allocation(spec.allocation);
  std::vector<std::string> hosts = hostsOf(allocation, inventory, true);
  if (hosts.empty()) hosts = hostsOf(allocation, inventory, false);
  const auto first =
      std::find(hosts.begin(), hosts.end(), machineOf(spec, spec.ipus.front(), inventory).host);
  if (first != hosts.end()) std::rotate(hosts.begin(), first, hosts.end());
  std::vector<std::string> of_gcds;
  const auto gcds = static_cast<std::size_t>(spec.num_gcds);
  for (std::size_t gcd = 0; gcd < gcds; ++gcd) of_gcds.push_back(hosts[gcd * hosts.size() / gcds]);
  return of_gcds;
}

}  // namespace pop::vipu
