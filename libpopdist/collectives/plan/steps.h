// SPDX-License-Identifier: Apache-2.0
// One function per kind of step; each asks only for what that kind needs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

inline Step sendStep(std::uint32_t round, int peer, Slice from, std::size_t count) {
  return {StepKind::kSend, round, peer, from, {}, count, {}};
}

inline Step recvStep(std::uint32_t round, int peer, Slice to, std::size_t count) {
  return {StepKind::kRecv, round, peer, {}, to, count, {}};
}

inline Step recvReduceStep(std::uint32_t round, int peer, Slice from, Slice to, std::size_t count,
                           Operands operands) {
  return {StepKind::kRecvReduce, round, peer, from, to, count, operands};
}

inline Step copyStep(std::uint32_t round, Slice from, Slice to, std::size_t count) {
  return {StepKind::kCopy, round, -1, from, to, count, {}};
}

}  // namespace popdist::plan
