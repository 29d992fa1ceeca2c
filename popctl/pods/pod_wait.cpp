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

// False: not yet.
Result<bool> isActive(const virmgrpc::PartitionStatus& status) {
  const bool idle = status.operation_state() == virmgrpc::POS_IDLE;
  if (status.ready_state() == virmgrpc::PS_ACTIVE && idle) return true;
  const bool failed = status.operation_state() == virmgrpc::POS_FAILED ||
                      status.operation_state() == virmgrpc::POS_REMOVING ||
                      (status.ready_state() == virmgrpc::PS_ERROR && idle);
  if (failed)
    return failedPrecondition("partition " + inQuotes(status.partition_id()) + " is " + stateText(status) +
                              errorsOf(status));
  return false;
}

// Asks until `done` says so.
template <typename Done>
Status poll(PodsClient& client, const std::string& partition, Deadline deadline, const Done& done) {
  std::chrono::milliseconds pause = kFirstPause;
  while (true) {
    const Result<virmgrpc::PartitionStatus> status = client.partitionStatus(partition);
    POP_ASSIGN_OR_RETURN(const bool is_done, done(status));
    if (is_done) return {};
    if (Clock::now() + pause >= deadline)
      return {Code::kDeadlineExceeded,
              "partition " + inQuotes(partition) + " is still " + stateText(status.value()) + " (--timeout)"};
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

}  // namespace

Status waitUntilActive(PodsClient& client, const std::string& partition, Deadline deadline) {
  return poll(client, partition, deadline,
              [](const Result<virmgrpc::PartitionStatus>& status) -> Result<bool> {
                if (!status.ok()) return status.status();
                return isActive(status.value());
              });
}

Status waitUntilGone(PodsClient& client, const std::string& partition, Deadline deadline) {
  return poll(
      client, partition, deadline, [](const Result<virmgrpc::PartitionStatus>& status) -> Result<bool> {
        if (status.code() == Code::kNotFound) return true;
        if (!status.ok()) return status.status();
        const virmgrpc::PartitionStatus& value = status.value();
        if (value.ready_state() == virmgrpc::PS_ERROR && value.operation_state() == virmgrpc::POS_REMOVING)
          return failedPrecondition("it cannot be proved that nothing uses its IPUs" + errorsOf(value) +
                                    " (popctl release partition)");
        return value.ready_state() == virmgrpc::PS_REMOVED;
      });
}

Status waitUntilLetGo(PodsClient& client, const std::string& partition, const std::string& holder,
                      Deadline deadline) {
  std::chrono::milliseconds pause = kFirstPause;
  while (true) {
    POP_ASSIGN_OR_RETURN(const std::optional<v1::PartitionInfo> info, client.partitionInfo(partition));
    if (!info || !info->holder().ends_with(printable(holder))) return {};  // behind its user
    if (Clock::now() + pause >= deadline)
      return {Code::kDeadlineExceeded, "partition " + inQuotes(partition) + " is still held by " + holder};
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

}  // namespace pop::popctl
