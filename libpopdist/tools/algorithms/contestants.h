// SPDX-License-Identifier: Apache-2.0
// Communicators of all instances: one that chooses algorithms as the tables say, and one for each forced
// algorithm.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libpopdist/collectives/choice/forced_algorithms.h"
#include "popdist/context.hpp"

namespace popdist::algorithms {

class Contestants {
 public:
  /// Collective over all instances. Throws popdist_error.
  explicit Contestants(Context& context);

  /// All communicators; the first one uses the tables.
  const std::vector<std::unique_ptr<Communicator>>& all() const { return all_; }

  /// True if all instances are on one host and use its shared memory.
  bool shareMemory() const;

  /// The algorithm of the last call on one of all().
  std::string taken(Communicator& contestant) const;

 private:
  void add(Context& context, const choice::ForcedAlgorithms& forced);

  std::vector<std::unique_ptr<Communicator>> all_;
};

}  // namespace popdist::algorithms
