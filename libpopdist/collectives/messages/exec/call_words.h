// SPDX-License-Identifier: Apache-2.0
// Describes calls and ranks in error texts. All ways of carrying out a call use these functions, so errors
// read the same everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "libpopdist/collectives/plan/operation.h"
#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist::exec {

/// The properties of a call that must be the same on all ranks, packed into one word.
struct CallKey {
  plan::Operation operation = plan::Operation::kBarrier;
  Type type = Type::kUint8;
  Operator op = Operator::kSum;
  bool ragged = false;  ///< each rank has its own count
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

/// Describes a call: "allReduce (sum of 1024 float 'grad3')". `key` is CallKey::packed, possibly received
/// from a peer.
std::string describeCall(std::uint64_t key, std::uint64_t count, std::string_view tensor);

/// Names a rank as precisely as known: "rank 2 (instance 5 on b2)".
using RankNames = std::function<std::string(int rank)>;

/// The name from `names`; "rank 2" if `names` is empty.
std::string nameOfRank(const RankNames& names, int rank);

/// The error text when `rank` makes the call `theirs` while `own_rank` makes the call `ours`.
std::string describeMismatch(const std::string& rank, const std::string& theirs, const std::string& own_rank,
                             const std::string& ours);

/// The error text when the deadline passed before `whom` came. `where` says where those ranks are instead.
std::string describeDeadline(const std::string& whom, const std::string& where);

}  // namespace popdist::exec
