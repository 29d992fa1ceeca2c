// SPDX-License-Identifier: Apache-2.0
// The partitions of all clusters, from their creation until it is proved that their IPUs are not in use. No
// I/O and no clock: the owner of the table passes the time, carries out the actions that a change asks for,
// and keeps the records. One thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "popdistd/partitions/ipu_inventory.h"
#include "popdistd/partitions/partition.h"
#include "popdistd/partitions/partition_index.h"
#include "popdistd/partitions/requirements.h"

namespace pop::vipu {

/// One partition's part of a change: its record before and after (none: it did not or does not live), and the
/// action that must follow.
struct PartitionStep {
  std::optional<Partition> before;
  std::optional<Partition> after;
  PartitionAction action = PartitionAction::kNone;
  std::string cancel_job;  ///< to be ended, and unbound when it has; empty: none
};
using Change = std::vector<PartitionStep>;

struct CreateRequest {
  PartitionRequirements requirements;
  std::string owner;
  bool any_allocation = false;  ///< false: only those that the owner may use
  bool disable_auto_reset = false;
  bool relocatable = false;
  std::string goes_with;  ///< a job; empty: it stays until it is removed
};

struct ResetPolicy {
  int max_retries = 3;  ///< of resets that the table makes by itself, in a row
  std::chrono::milliseconds delay = std::chrono::seconds(5);  ///< after the loss of a machine
  std::chrono::milliseconds forget_after =
      std::chrono::hours(1);  ///< so long after the last one, counting starts anew
};

/// The IPUs of an allocation, in numbers.
struct Capacity {
  int ipus = 0;
  int owned = 0;     ///< by partitions
  int unusable = 0;  ///< owned by none, on machines that are lost or drained
  int free = 0;
  int largest_free_block = 0;
  double fragmentation = 0;  ///< 0 to 1: see fragmentation() in ipu_blocks.h
};

class PartitionTable {
 public:
  explicit PartitionTable(ResetPolicy policy = {}) : policy_(policy) {}

  // Inventory. Errors are those of Inventory's functions; what partitions use cannot be taken away
  // (kFailedPrecondition).
  Status addCluster(Cluster cluster) { return inventory_.addCluster(std::move(cluster)); }
  Status addAgent(Agent agent) { return inventory_.addAgent(std::move(agent)); }
  Status updateAgent(const Agent& agent) { return inventory_.updateAgent(agent); }
  Status setAllocation(Allocation allocation);
  Status removeCluster(std::string_view id) { return inventory_.removeCluster(id); }
  Status removeAgent(std::string_view id) { return inventory_.removeAgent(id); }
  Status removeAllocation(std::string_view id);
  const Inventory& inventory() const { return inventory_; }

  /// The machine gets no more partitions; those on it stay.
  Status drain(std::string_view agent, std::string reason) {
    return inventory_.setDrained(agent, std::move(reason));
  }
  Status resume(std::string_view agent) { return inventory_.setDrained(agent, std::nullopt); }
  /// Its partitions are in error, unless they are being removed. They are reset by dueResets(). The machine
  /// stays lost if the change is reverted.
  Result<Change> machineLost(std::string_view agent, std::string_view why, Time now);
  /// The caller has made sure that nothing runs there of a partition that has left it.
  Status machineFound(std::string_view agent) { return inventory_.setLost(agent, false); }

  // Partitions. kNotFound: there is no such partition; kFailedPrecondition: not in its state, or a job holds
  // it. An error changes nothing.

  /// The specification that create() would give the partition. Errors of planPartition(); kAlreadyExists.
  Result<PartitionSpec> plan(const CreateRequest& request) const;
  /// The partition owns its IPUs from now on; they are to be configured.
  Result<Change> create(const CreateRequest& request, Time now);
  Result<Change> configured(std::string_view id, Time now);
  /// Tries again while the partition's auto reset allows it, on other IPUs if it is relocatable and there are
  /// any.
  Result<Change> configFailed(std::string_view id, std::string_view why, Time now);

  /// Configures it again, as its user asks. A partition with unusable machines gets other IPUs if it is
  /// relocatable, by this call or its creation; kFailedPrecondition or kResourceExhausted if it has a lost
  /// one and cannot.
  Result<Change> reset(std::string_view id, bool relocatable, Time now);
  /// Resets the partitions in error that may be reset by now: their machines are back, or they get other
  /// IPUs.
  Change dueResets(Time now);

  /// Closes the partition; its owner must find out whether it is still in use. With `force`, a job that holds
  /// it is to be cancelled; without, such a job prevents the removal.
  Result<Change> remove(std::string_view id, bool force, Time now);
  /// The partition is gone: its IPUs are proved not to be in use. A job that holds it must have been unbound.
  Result<Change> released(std::string_view id, Time now);
  Result<Change> notReleased(std::string_view id, std::string_view why, Time now);
  /// Releases a partition in quarantine on an operator's word; to be audited by the caller.
  Result<Change> forceRelease(std::string_view id, Time now);

  /// A job holds the partition, which is active and which no other job holds. Holding it twice changes
  /// nothing.
  Result<Change> bind(std::string_view id, std::string_view job);
  /// The partition is to go with its holder.
  Result<Change> goWithHolder(std::string_view id);
  /// The job has ended, provably. kNotFound if it holds none.
  Result<Change> unbind(std::string_view job);

  const Partition* find(std::string_view id) const { return index_.find(id); }
  const Partition* heldBy(std::string_view job) const { return index_.heldBy(job); }
  const PartitionIndex::Partitions& partitions() const { return index_.all(); }
  /// By id; of one allocation, or of all that the user may use (all, if `user` is empty). kNotFound,
  /// kPermissionDenied: the allocation.
  Result<std::vector<const Partition*>> list(std::string_view allocation, std::string_view user) const;
  Result<Capacity> capacityOf(std::string_view allocation) const;

  /// Takes over records, all or none of them. kDataLoss: they contradict each other or the inventory.
  Status restore(const std::vector<Partition>& partitions);
  /// Takes back what the store could not keep. Changes are reverted from the last to the first.
  void revert(const Change& change);

 private:
  Result<const Partition*> require(std::string_view id) const;
  Result<Change> advance(const Partition& partition, PartitionEvent event, Partition after, Time now);
  PartitionStep commit(std::optional<Partition> before, std::optional<Partition> after,
                       PartitionAction action = PartitionAction::kNone);
  Status checkRecord(const Partition& partition) const;
  const Agent* lostMachineOf(const Partition& partition) const;
  bool hasUnusableMachine(const Partition& partition) const;
  OwnedIpus ownedByOthers(const Partition& partition) const;
  Result<PartitionSpec> specForReset(const Partition& partition, bool relocatable) const;
  bool takeRetry(AutoReset& auto_reset, Time now) const;

  const ResetPolicy policy_;
  Inventory inventory_;
  PartitionIndex index_;
};

}  // namespace pop::vipu
