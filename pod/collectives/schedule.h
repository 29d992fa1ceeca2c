// SPDX-License-Identifier: Apache-2.0
// A collective on the Pod as data: rounds of copies between replicas. Nothing is stored for each step: a
// phase says the transfers of a round when it is asked, and which of its rounds load the links alike, so that
// the clock of 65,536 IPUs looks at a few rounds only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pop::pod {

/// Blocks [first, first + blocks) of the vector go from one replica to another, all of whose IPUs take part.
struct Transfer {
  int from = 0;
  int to = 0;
  std::uint32_t first = 0;
  std::uint32_t blocks = 1;
  bool reduces = false;  ///< the receiver adds them to its own; otherwise they replace its own

  friend bool operator==(const Transfer&, const Transfer&) = default;
};

using Take = std::function<void(const Transfer&)>;

/// `times` rounds, `round` among them, send as many blocks over each kind of way as it does.
struct RoundClass {
  int round = 0;
  int times = 1;
};

/// Transfers of a round run at the same time, and read what was there before it.
struct Phase {
  std::string name;
  int rounds = 0;
  std::vector<RoundClass> classes;  ///< of all rounds
  std::function<void(int round, const Take&)> transfers;
};

/// A vector is cut into `blocks` equal blocks, the last ones padded (as GCL pads its fragments).
struct Schedule {
  int replicas = 1;
  std::uint32_t blocks = 1;
  std::vector<Phase> phases;
  /// Where each place of a group owns a part of the vector: the number of that part. Empty: in order, or
  /// parts have no owner.
  std::vector<std::uint32_t> part_of_place{};

  int rounds() const {
    int sum = 0;
    for (const Phase& phase : phases) sum += phase.rounds;
    return sum;
  }
};

}  // namespace pop::pod
