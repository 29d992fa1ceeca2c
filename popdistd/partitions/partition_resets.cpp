// SPDX-License-Identifier: Apache-2.0
// PartitionTable: machines that are lost, and the resets that follow by themselves.
#include <algorithm>

#include "common/base/text.h"
#include "popdistd/partitions/partition_plan.h"
#include "popdistd/partitions/partition_table.h"

namespace pop::vipu {
namespace {

template <typename Predicate>
const Agent* machineThat(const Inventory& inventory, const PartitionSpec& spec, Predicate predicate) {
  for (const PartitionIpu& ipu : spec.ipus) {
    const Agent* const machine =
        inventory.agentAt(spec.cluster, ipu.ild_topology_id, ipu.topology_id / kMachineIpus);
    if (machine && predicate(*machine)) return machine;
  }
  return nullptr;
}

}  // namespace

const Agent* PartitionTable::lostMachineOf(const Partition& partition) const {
  return machineThat(inventory_, partition.spec, [](const Agent& machine) { return machine.lost; });
}

bool PartitionTable::hasUnusableMachine(const Partition& partition) const {
  return machineThat(inventory_, partition.spec, [](const Agent& machine) { return !machine.usable(); }) !=
         nullptr;
}

OwnedIpus PartitionTable::ownedByOthers(const Partition& partition) const {
  OwnedIpus owned = index_.owned();
  IpuMasks& here = owned.find(partition.spec.cluster)->second;
  for (const PartitionIpu& ipu : partition.spec.ipus)
    here[static_cast<std::size_t>(ipu.ild_topology_id)] &= ~(IpuMask{1} << ipu.topology_id);
  return owned;
}

// A drained machine is left if that is possible, a lost one must be.
Result<PartitionSpec> PartitionTable::specForReset(const Partition& partition, bool relocatable) const {
  const Agent* const lost = lostMachineOf(partition);
  if (relocatable && hasUnusableMachine(partition)) {
    auto moved = planRelocation(partition.id, partition.spec, inventory_, ownedByOthers(partition));
    if (moved.ok() || lost) return moved;
  }
  if (!lost) return partition.spec;
  return failedPrecondition(
      "partition " + inQuotes(partition.id) + ": its machine " + inQuotes(lost->id) +
      " is lost: reset it with relocatable to get other IPUs, or when the machine is back");
}

bool PartitionTable::takeRetry(AutoReset& auto_reset, Time now) const {
  if (!auto_reset.enabled) return false;
  if (auto_reset.last && now - *auto_reset.last > policy_.forget_after) auto_reset.retry_count = 0;
  if (auto_reset.retry_count >= auto_reset.max_retries) return false;
  ++auto_reset.retry_count;
  auto_reset.last = now;
  return true;
}

Result<Change> PartitionTable::machineLost(std::string_view agent, std::string_view why, Time now) {
  POP_RETURN_IF_ERROR(inventory_.setLost(agent, true));
  const Agent& machine = *inventory_.agent(agent);
  std::vector<std::string> struck;
  for (const auto& [id, partition] : index_.all())
    if (step(partition.state, PartitionEvent::kMachineLost) && uses(partition, machine)) struck.push_back(id);
  Change all;
  for (const std::string& id : struck) {
    const Partition& partition = *index_.find(id);
    Partition after = partition;
    after.errors.push_back("machine " + inQuotes(machine.id) + " is lost: " + bounded(printable(why)));
    POP_ASSIGN_OR_RETURN(Change one, advance(partition, PartitionEvent::kMachineLost, std::move(after), now));
    all.push_back(std::move(one.front()));
  }
  return all;
}

Change PartitionTable::dueResets(Time now) {
  std::vector<std::string> in_error;
  for (const auto& [id, partition] : index_.all()) {
    if (partition.state == PartitionState::kError && partition.job.empty() &&
        now - partition.changed >= policy_.delay)
      in_error.push_back(id);
  }
  Change all;
  for (const std::string& id : in_error) {
    const Partition& partition = *index_.find(id);
    Partition after = partition;
    auto spec = specForReset(partition, partition.relocatable);
    if (!spec.ok() || !takeRetry(after.auto_reset, now)) continue;
    after.may_relocate = partition.relocatable;
    after.spec = std::move(spec).value();
    auto one = advance(partition, PartitionEvent::kAutoReset, std::move(after), now);
    if (one.ok()) all.push_back(std::move(one->front()));
  }
  return all;
}

}  // namespace pop::vipu
