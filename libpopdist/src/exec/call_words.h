// SPDX-License-Identifier: Apache-2.0
// Calls and ranks in words. Whatever fails in whatever way, it is said here of what and of whom.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "libpopdist/src/plan/operation.h"
#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist::exec {

/// What must be the same on all ranks, in one word.
struct CallKey {
  plan::Operation operation = plan::Operation::kBarrier;
  Type type = Type::kUint8;
  Operator op = Operator::kSum;
  bool ragged = false;  ///< with counts of each rank
  int root = 0;

  std::uint64_t packed() const {
    return static_cast<std::uint64_t>(operation) | static_cast<std::uint64_t>(type) << 8 |
           static_cast<std::uint64_t>(op) << 16 | static_cast<std::uint64_t>(ragged ? 1 : 0) << 24 |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(root)) << 32;
  }
  static CallKey unpacked(std::uint64_t word) {
    return {static_cast<plan::Operation>(word & 0xff), static_cast<Type>(word >> 8 & 0xff),
            static_cast<Operator>(word >> 16 & 0xff), (word >> 24 & 1) != 0, static_cast<int>(word >> 32)};
  }
};

/// "allReduce (sum of 1024 float 'grad3')". `key`: CallKey::packed, of a peer's, too.
std::string describeCall(std::uint64_t key, std::uint64_t count, std::string_view tensor);

/// "rank 2 (instance 5 on b2)", as far as it is known.
using RankNames = std::function<std::string(int rank)>;

/// What `names` calls it, or else "rank 2".
std::string nameOfRank(const RankNames& names, int rank);

/// The error text when `rank` makes the call `theirs` while `own_rank` makes the call `ours`.
std::string describeMismatch(const std::string& rank, const std::string& theirs, const std::string& own_rank,
                             const std::string& ours);

/// That the time for a call has passed before `whom` came; `where` says where each of them is instead.
std::string describeDeadline(const std::string& whom, const std::string& where);

}  // namespace popdist::exec
