// SPDX-License-Identifier: Apache-2.0
#include "common/base/text.h"
#include "pod/system/numbering.h"
#include "poprun/command/collective_report.h"

namespace pop {
namespace {

std::string rangeText(std::int64_t first, std::int64_t count) {
  return count == 1 ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(first + count - 1);
}

}  // namespace

std::string stepsText(const pod::TimedSchedule& timed, const pod::ReplicaLayout& layout) {
  const pod::Schedule& schedule = timed.schedule;
  const bool is_within = schedule.replicas != layout.replicas;
  std::string text = "# " + timed.name + ": " + counted(schedule.replicas, is_within ? "IPU" : "replica") +
                     ", " + counted(schedule.blocks, "block") + ", " + counted(schedule.rounds(), "round") +
                     "\n";
  for (int replica = 0; replica < layout.replicas; ++replica)
    text += "replica " + std::to_string(replica) + ": IPU " +
            rangeText(pod::firstIpuOf(replica, layout.ipus_per_replica), layout.ipus_per_replica) + "\n";
  int number = 0;
  for (const pod::Phase& phase : schedule.phases) {
    for (int round = 0; round < phase.rounds; ++round) {
      text += "\nround " + std::to_string(number++) + ", " + phase.name + "\n";
      phase.transfers(round, [&text](const pod::Transfer& transfer) {
        text += std::to_string(transfer.from) + " -> " + std::to_string(transfer.to) + ": block " +
                rangeText(transfer.first, transfer.blocks) + (transfer.reduces ? ", added\n" : "\n");
      });
    }
  }
  return text;
}

}  // namespace pop
