// SPDX-License-Identifier: Apache-2.0
#include "popdistd/partitions/partition.h"

namespace pop::vipu {

ReadyState readyState(const Partition& partition) {
  switch (partition.state) {
    case PartitionState::kCreating:
    case PartitionState::kResetting:
      return ReadyState::kPending;
    case PartitionState::kActive:
      return ReadyState::kActive;
    case PartitionState::kRemoving:
      return partition.ready_before_removing;
    case PartitionState::kError:
    case PartitionState::kFailed:
    case PartitionState::kQuarantine:
      return ReadyState::kError;
    case PartitionState::kRemoved:
      return ReadyState::kRemoved;
  }
  return ReadyState::kError;
}

OperationState operationState(const Partition& partition) {
  switch (partition.state) {
    case PartitionState::kCreating:
      return OperationState::kCreating;
    case PartitionState::kResetting:
      return OperationState::kResetting;
    case PartitionState::kFailed:
      return OperationState::kFailed;
    case PartitionState::kRemoving:
    case PartitionState::kQuarantine:
      return OperationState::kRemoving;
    case PartitionState::kActive:
    case PartitionState::kError:
    case PartitionState::kRemoved:
      return OperationState::kIdle;
  }
  return OperationState::kFailed;
}

std::string stateText(const Partition& partition) {
  return std::string(nameOf(readyState(partition))) + '/' + nameOf(operationState(partition));
}

const char* nameOf(IpuLinkRouting routing) {
  switch (routing) {
    case IpuLinkRouting::kDnc:
      return "DNC";
    case IpuLinkRouting::kSwnc:
      return "SWNC";
    case IpuLinkRouting::kBtnc:
      return "BTNC";
    case IpuLinkRouting::kRingSwnc:
      return "RINGSWNC";
    case IpuLinkRouting::kUndefined:
      break;
  }
  return "DEFAULT";
}

const char* nameOf(GatewayRouting routing) {
  switch (routing) {
    case GatewayRouting::kRing:
      return "RING";
    case GatewayRouting::kSwRing:
      return "SWRING";
    case GatewayRouting::kUndefined:
      break;
  }
  return "DEFAULT";
}

// "c2-compatible" has been seen of V-IPU; the others follow their names on the wire.
const char* nameOf(SyncType sync) {
  switch (sync) {
    case SyncType::kGs2Default:
      return "c2-compatible";
    case SyncType::kGs2IndependentRails:
      return "independent-rails";
    case SyncType::kPodNativeDefault:
      return "pod-native-default";
    case SyncType::kPodNativeReplicatedPipeline:
      return "pod-native-replicated-pipeline";
    case SyncType::kUndefined:
      break;
  }
  return "default";
}

const char* nameOf(ReadyState state) {
  switch (state) {
    case ReadyState::kPending:
      return "PENDING";
    case ReadyState::kActive:
      return "ACTIVE";
    case ReadyState::kRemoved:
      return "REMOVED";
    case ReadyState::kError:
      return "ERROR";
  }
  return "?";
}

const char* nameOf(OperationState state) {
  switch (state) {
    case OperationState::kIdle:
      return "IDLE";
    case OperationState::kCreating:
      return "CREATING";
    case OperationState::kRemoving:
      return "REMOVING";
    case OperationState::kResetting:
      return "RESETTING";
    case OperationState::kFailed:
      return "FAILED";
  }
  return "?";
}

}  // namespace pop::vipu
