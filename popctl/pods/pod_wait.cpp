// SPDX-License-Identifier: Apache-2.0
#include "popctl/pods/pod_wait.h"

#include <algorithm>
#include <optional>
#include <thread>

#include "common/base/text.h"
#include "popctl/pods/pod_tables.h"

namespace pop::popctl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFirstPause{5};
constexpr std::chrono::milliseconds kLongestPause{200};

std::string errorsOf(const virmgrpc::PartitionStatus& status) {
  return status.errors().empty() ? "" : ": " + status.errors(status.errors_size() - 1);
}

// The state that it is still in; empty: it is ready to be used.
Result<std::string> untilActive(const virmgrpc::PartitionStatus& status) {
  const bool idle = status.operation_state() == virmgrpc::POS_IDLE;
  if (status.ready_state() == virmgrpc::PS_ACTIVE && idle) return std::string();
  const bool failed = status.operation_state() == virmgrpc::POS_FAILED ||
                      status.operation_state() == virmgrpc::POS_REMOVING ||
                      (status.ready_state() == virmgrpc::PS_ERROR && idle);
  if (failed)
    return failedPrecondition("partition " + inQuotes(status.partition_id()) + " is " + stateText(status) +
                              errorsOf(status));
  return stateText(status);
}

// Likewise; empty: it is gone.
Result<std::string> untilGone(const virmgrpc::PartitionStatus& status) {
  if (status.ready_state() == virmgrpc::PS_ERROR && status.operation_state() == virmgrpc::POS_REMOVING)
    return failedPrecondition("it cannot be proved that nothing uses its IPUs" + errorsOf(status) +
                              " (popctl release partition)");
  return status.ready_state() == virmgrpc::PS_REMOVED ? "" : stateText(status);
}

// Asks `ask` for what the partition still is until that is nothing.
template <typename Ask>
Status poll(const std::string& time_limit, const std::string& partition, Deadline deadline, const Ask& ask) {
  std::chrono::milliseconds pause = kFirstPause;
  while (true) {
    POP_ASSIGN_OR_RETURN(const std::string still, ask());
    if (still.empty()) return {};
    if (Clock::now() + pause >= deadline)
      return {Code::kDeadlineExceeded,
              "partition " + inQuotes(partition) + " is still " + still + " (" + time_limit + ')'};
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

}  // namespace

Status waitUntilActive(PodsClient& client, const std::string& partition, Deadline deadline) {
  return poll(client.server().timeout_option, partition, deadline, [&]() -> Result<std::string> {
    POP_ASSIGN_OR_RETURN(const virmgrpc::PartitionStatus status, client.partitionStatus(partition));
    return untilActive(status);
  });
}

Status waitUntilGone(PodsClient& client, const std::string& partition, Deadline deadline) {
  return poll(client.server().timeout_option, partition, deadline, [&]() -> Result<std::string> {
    const Result<virmgrpc::PartitionStatus> status = client.partitionStatus(partition);
    if (status.code() == Code::kNotFound) return std::string();
    if (!status.ok()) return status.status();
    return untilGone(status.value());
  });
}

Status waitUntilLetGo(PodsClient& client, const std::string& partition, const std::string& holder,
                      Deadline deadline) {
  return poll(client.server().timeout_option, partition, deadline, [&]() -> Result<std::string> {
    POP_ASSIGN_OR_RETURN(const std::optional<v1::PartitionInfo> info, client.partitionInfo(partition));
    const bool is_held = info && info->holder().ends_with(printable(holder));  // behind its user
    return is_held ? "held by " + holder : "";
  });
}

}  // namespace pop::popctl
