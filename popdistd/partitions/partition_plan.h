// SPDX-License-Identifier: Apache-2.0
// The choice of a partition's IPUs: from an allocation that its user may use, on machines that are neither
// lost nor drained, and not owned yet. Changes nothing.
#pragma once

#include <string_view>

#include "common/base/status.h"
#include "popdistd/partitions/ipu_inventory.h"
#include "popdistd/partitions/partition_index.h"
#include "popdistd/partitions/requirements.h"

namespace pop::vipu {

/// The whole specification of a partition that fits the requirements: the smallest free block that they fit
/// into, of all allocations that come into question, or the IPUs that they name. `user` empty: one who may
/// use all allocations. kInvalidArgument as specOf() and setRouting(); kNotFound, kPermissionDenied: cluster
/// or allocation; kResourceExhausted: no block is free, which may change by itself; kFailedPrecondition: a
/// named IPU is in use or its machine is not usable, or there are no such IPUs in the allocation even if all
/// were free.
Result<PartitionSpec> planPartition(const PartitionRequirements& requirements, std::string_view user,
                                    const Inventory& inventory, const PartitionIndex& living);

/// The same partition on IPUs of its allocation that are usable and not in `owned`, which says by that
/// whether its own come into question. kResourceExhausted: no block is free.
Result<PartitionSpec> planRelocation(std::string_view id, const PartitionSpec& spec,
                                     const Inventory& inventory, const OwnedIpus& owned);

/// The given IPUs of a cluster without those in `owned`.
IpuMasks withoutOwned(IpuMasks ipus, std::string_view cluster, const OwnedIpus& owned);

/// The usable IPUs of an allocation that are not in `owned`, by ILD.
IpuMasks freeIpus(const Inventory& inventory, const Allocation& allocation, const OwnedIpus& owned);

/// True if `user` may use the allocation; an empty user may use all.
bool mayUse(std::string_view user, const Allocation& allocation);

}  // namespace pop::vipu
