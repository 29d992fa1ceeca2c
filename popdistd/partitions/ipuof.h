// SPDX-License-Identifier: Apache-2.0
// IPU over Fabric configurations: what a program needs to find the IPUs of its GCD (graph compile domain).
// V-IPU hands them out by GetPartitionIpuofConfig and as one JSON file for each GCD.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "popdistd/partitions/ipu_inventory.h"
#include "popdistd/partitions/partition.h"

namespace pop::vipu {

struct IpuofDevice {
  std::string ip;  ///< of its machine's IPU over Fabric server
  int server_port = 0;
  int rdma_port = 0;
  int device_id = 0;
  int ipulink_segment_id = 0;
  int routing_id = 0;
  int ipu_arch_id = 0;
  int ipu_id = 0;
  std::string chip_id;
  std::string gwsw_version;
  std::string ipum_sw_version;

  friend bool operator==(const IpuofDevice&, const IpuofDevice&) = default;
};

struct GcdConfig {
  std::vector<IpuofDevice> devices;  ///< by routing id
  std::map<std::string, std::string> attributes;

  friend bool operator==(const GcdConfig&, const GcdConfig&) = default;
};

/// The configuration of one GCD: GCD g of G has the g-th of G equal parts of the routing ids. kNotFound: the
/// partition has no such GCD; kFailedPrecondition: it is not active.
Result<GcdConfig> gcdConfig(const Partition& partition, std::uint32_t gcd, const Inventory& inventory);

/// The configurations of all GCDs.
Result<std::vector<GcdConfig>> gcdConfigs(const Partition& partition, const Inventory& inventory);

/// The file of a GCD, laid out as V-IPU does. `ipum_sw_version` is not part of it.
std::string ipuofFileText(const GcdConfig& config);

/// "p16_gcd0_ipuof.conf", in ~/.ipuof.conf.d
std::string ipuofFileName(std::string_view partition, std::uint32_t gcd);

/// The attributes that V-IPU lists of a machine's IPUs, by the IPUs' hardware ids (IpuofDevice::ipu_id).
std::map<int, std::map<std::string, std::string>> ipuAttributes(const Agent& machine);

/// The host of each GCD: the GCDs are spread over the hosts of the partition's allocation, evenly and in
/// order, from the one on that serves the first machine of the partition. Hosts without a usable machine are
/// left out, unless there are no others.
std::vector<std::string> gcdHosts(const PartitionSpec& spec, const Inventory& inventory);

}  // namespace pop::vipu
