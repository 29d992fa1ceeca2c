// SPDX-License-Identifier: Apache-2.0
// The shape of a partition, as V-IPU's messages say it.
#pragma once

#include "popdistd/partitions/partition.h"
#include "proto/virmgrpc/vipuuser.pb.h"

namespace pop::popctl {

/// As many IPUs and segments, of the same routing; the rest is left out. Whatever the message says, there is
/// at least one segment.
vipu::PartitionSpec wiredAs(const virmgrpc::PartitionSpec& message);

}  // namespace pop::popctl
