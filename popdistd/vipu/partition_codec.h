// SPDX-License-Identifier: Apache-2.0
// Partitions as V-IPU's messages (proto/virmgrpc/vipuuser.proto). Enums are converted by a cast; the compiler
// checks that their numbers are equal.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "popdistd/partitions/ipuof.h"
#include "popdistd/partitions/partition_table.h"
#include "proto/virmgrpc/vipuuser.pb.h"

namespace pop::vipu {

/// The request, its owner left empty. kInvalidArgument: an enum has a value that V-IPU does not have.
Result<CreateRequest> fromWire(const virmgrpc::CreatePartitionRequest& message);

virmgrpc::PartitionSpec toWire(const PartitionSpec& spec);
/// `ipuof_server_version`: of the daemon.
virmgrpc::Partition toWire(const Partition& partition, std::string_view ipuof_server_version);
virmgrpc::PartitionStatus statusToWire(const Partition& partition);
virmgrpc::PartitionConfig toWire(const PartitionSpec& spec, const std::vector<GcdConfig>& gcds,
                                 std::string_view ipuof_server_version);
/// The attributes of the IPUs of all machines, or of those named, by machine. kNotFound: there is no such
/// machine.
Result<virmgrpc::ListIPUAttributesReply> ipuAttributesToWire(
    const virmgrpc::ListIPUAttributesRequest& request, const Inventory& inventory);
virmgrpc::Allocation toWire(const Allocation& allocation);

}  // namespace pop::vipu
