// SPDX-License-Identifier: Apache-2.0
// A partition: its specification, as V-IPU's public API has it, its state, and the job that holds it. A
// Partition is also the record that a store keeps. Enums are numerically equal to those of
// proto/virmgrpc/vipuuser.proto, so that a conversion is a cast.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "popdistd/partitions/cluster.h"
#include "popdistd/partitions/partition_fsm.h"

namespace pop::vipu {

/// Wall-clock time; it is told to clients and outlives the daemon.
using Time = std::chrono::sys_time<std::chrono::milliseconds>;

enum class IpuLinkRouting : std::uint8_t { kUndefined = 0, kDnc = 1, kSwnc = 2, kBtnc = 3, kRingSwnc = 4 };
enum class GatewayRouting : std::uint8_t { kUndefined = 0, kRing = 2, kSwRing = 3 };
enum class SyncType : std::uint8_t {
  kUndefined = 0,
  kGs2Default = 1,
  kGs2IndependentRails = 2,  ///< V-IPU has never supported it
  kPodNativeDefault = 3,
  kPodNativeReplicatedPipeline = 4,
};
enum class ReadyState : std::uint8_t { kPending = 1, kActive = 2, kRemoved = 3, kError = 4 };
enum class OperationState : std::uint8_t {
  kIdle = 1,
  kCreating = 2,
  kRemoving = 3,
  kResetting = 4,
  kFailed = 5
};

/// An IPU of a partition: where it is (topology), and what the partition calls it (routing).
struct PartitionIpu {
  int ild_topology_id = 0;  ///< its ILD in the cluster
  int ild_routing_id = 0;   ///< its ILD in the partition, which is also its IPU-Link segment
  int topology_id = 0;      ///< the IPU in its ILD
  int routing_id = 0;       ///< the IPU in the partition

  friend bool operator==(const PartitionIpu&, const PartitionIpu&) = default;
};

/// All of it is set: what a client left open has its default.
struct PartitionSpec {
  std::string cluster;
  std::string allocation;
  std::vector<PartitionIpu> ipus;  ///< by routing id
  IpuLinkRouting routing = IpuLinkRouting::kDnc;
  GatewayRouting gw_routing = GatewayRouting::kUndefined;  ///< undefined: there is one segment
  SyncType sync = SyncType::kGs2Default;
  int size = 1;          ///< number of IPUs
  int num_segments = 1;  ///< each in an ILD of its own, all equally large
  int num_gcds = 1;
  int num_replicas = 1;  ///< of all GCDs together
  bool reconfigurable = false;

  int segmentIpus() const { return size / num_segments; }

  friend bool operator==(const PartitionSpec&, const PartitionSpec&) = default;
};

/// Resets that the daemon makes by itself when a partition has failed.
struct AutoReset {
  bool enabled = true;
  int max_retries = 3;
  int retry_count = 0;
  std::optional<Time> last;

  friend bool operator==(const AutoReset&, const AutoReset&) = default;
};

struct Partition {
  std::string id;
  std::string owner;  ///< the user who created it
  PartitionSpec spec;
  bool relocatable = false;   ///< by its creation
  bool may_relocate = false;  ///< while it is being configured: by its creation, or by the reset
  AutoReset auto_reset;
  PartitionState state = PartitionState::kCreating;
  ReadyState ready_before_removing = ReadyState::kPending;  ///< while it is being removed
  std::vector<std::string> errors;
  std::string job;        ///< that holds it; empty: none
  std::string goes_with;  ///< the holder that it was made for, with whose end it is to go; empty: none
  Time created;
  Time changed;  ///< when it got its state

  friend bool operator==(const Partition&, const Partition&) = default;
};

/// V-IPU's two states of a partition. A machine that is lost makes ERROR/IDLE, one that cannot be configured
/// ERROR/FAILED, and one whose end cannot be proved ERROR/REMOVING.
ReadyState readyState(const Partition& partition);
OperationState operationState(const Partition& partition);

/// "PENDING/CREATING", for messages.
std::string stateText(const Partition& partition);

const char* nameOf(IpuLinkRouting routing);  ///< "DNC"
const char* nameOf(GatewayRouting routing);  ///< "RING"
const char* nameOf(SyncType sync);           ///< "c2-compatible"
const char* nameOf(ReadyState state);        ///< "ACTIVE"
const char* nameOf(OperationState state);    ///< "IDLE"

/// The IPUs that partitions own, by cluster and ILD. A cluster that is missing has none.
using OwnedIpus = std::map<std::string, IpuMasks, std::less<>>;

/// True if the IPU is one of these.
inline bool contains(const IpuMasks& masks, const PartitionIpu& ipu) {
  const auto ild = static_cast<std::size_t>(ipu.ild_topology_id);
  return ild < masks.size() && (masks[ild] >> ipu.topology_id & 1U) != 0;
}

}  // namespace pop::vipu
