// SPDX-License-Identifier: Apache-2.0
#include "popctl/pods/partition_wiring.h"

#include <algorithm>
#include <cstdint>

namespace pop::popctl {

vipu::PartitionSpec wiredAs(const virmgrpc::PartitionSpec& message) {
  vipu::PartitionSpec spec;
  spec.size = message.ipus_size();
  spec.num_segments = static_cast<int>(
      std::clamp<std::uint32_t>(message.num_ipulink_segments(), 1, std::uint32_t{vipu::kMaxIlds}));
  spec.routing = static_cast<vipu::IpuLinkRouting>(message.ipulink_routing_type());
  spec.gw_routing = static_cast<vipu::GatewayRouting>(message.gw_routing_type());
  return spec;
}

}  // namespace pop::popctl
