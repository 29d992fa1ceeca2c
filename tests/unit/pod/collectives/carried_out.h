// SPDX-License-Identifier: Apache-2.0
// Schedules carried out block by block on integers, whose sums are exact in any order.
#pragma once

#include <cstdint>
#include <vector>

#include "pod/collectives/schedule.h"

namespace pop::pod {

using Blocks = std::vector<std::uint64_t>;

// Each replica's blocks. A round reads what was there before it.
inline void carryOut(const Schedule& schedule, std::vector<Blocks>& replicas) {
  for (const Phase& phase : schedule.phases) {
    for (int round = 0; round < phase.rounds; ++round) {
      const std::vector<Blocks> before = replicas;
      phase.transfers(round, [&](const Transfer& transfer) {
        for (std::uint32_t block = transfer.first; block < transfer.first + transfer.blocks; ++block) {
          const std::uint64_t sent = before[static_cast<std::size_t>(transfer.from)][block];
          std::uint64_t& own = replicas[static_cast<std::size_t>(transfer.to)][block];
          own = transfer.reduces ? own + sent : sent;
        }
      });
    }
  }
}

inline std::vector<Blocks> inputsOf(const Schedule& schedule) {
  std::vector<Blocks> replicas(static_cast<std::size_t>(schedule.replicas), Blocks(schedule.blocks));
  std::uint64_t next = 1;
  for (Blocks& blocks : replicas) {
    for (std::uint64_t& block : blocks) block = next = next * 6364136223846793005U + 1442695040888963407U;
  }
  return replicas;
}

inline Blocks sumOf(const std::vector<Blocks>& replicas, std::size_t first, std::size_t end) {
  Blocks sum(replicas.front().size());
  for (std::size_t replica = first; replica < end; ++replica) {
    for (std::size_t block = 0; block < sum.size(); ++block) sum[block] += replicas[replica][block];
  }
  return sum;
}

}  // namespace pop::pod
