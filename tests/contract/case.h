// SPDX-License-Identifier: Apache-2.0
// A collective as the contract suite asks for it, and what it must give. Everything follows from the case:
// each rank knows all ranks' inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libpopdist/collectives/plan/operation.h"
#include "libpopdist/collectives/plan/send_recv.h"
#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist::contract {

using plan::Operation;
using Bytes = std::vector<std::byte>;

struct Case {
  Operation operation = Operation::kAllReduce;
  Type type = Type::kFloat;
  Operator op = Operator::kSum;
  std::size_t count = 0;  ///< as the API counts; of ragged cases the largest
  int root = 0;
  bool in_place = false;
  bool ragged = false;
  std::uint64_t seed = 0;  ///< for the elements and the ragged counts
  /// Floats whose sums and products are exact in any order, for ways that do not reduce in order of rank.
  bool exact = false;
};

/// "allReduce (sum of 1000 float), root 0, in place".
std::string nameOf(const Case& tested);

bool canBeRagged(Operation operation);
bool canBeInPlace(Operation operation);

/// Elements that go from `from` to `to` in a ragged case. All-gather: the same to all.
std::size_t raggedCount(const Case& tested, int from, int to);

/// The partners of a rank in a sendRecv: a permutation, in which some send to themselves, with some pairs
/// left out.
plan::Partners partnersOf(const Case& tested, int rank, int ranks);

/// Elements that a rank has in its buffers; those of others than the root where only the root's are used are
/// 0.
std::size_t inputCount(const Case& tested, int rank, int ranks);
std::size_t outputCount(const Case& tested, int rank, int ranks);

/// The input of rank `rank`: inputCount() elements.
Bytes inputOf(const Case& tested, int rank, int ranks);

/// Its right output: outputCount() elements.
Bytes expectedOf(const Case& tested, int rank, int ranks);

}  // namespace popdist::contract
