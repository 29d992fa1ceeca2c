// SPDX-License-Identifier: Apache-2.0
// Communicators of all instances that carry out collectives as the tables say, and with each algorithm
// instead.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libpopdist/src/choice/forced_algorithms.h"
#include "popdist/context.hpp"

namespace popdist::algorithms {

class Contestants {
 public:
  /// Collective over all instances. Throws popdist_error.
  explicit Contestants(Context& context);

  /// The first one goes by the tables.
  const std::vector<std::unique_ptr<Communicator>>& all() const { return all_; }

  /// All instances are on one host, and go through its memory.
  bool shareMemory() const;

  /// With what the last call on one of all() was carried out.
  std::string taken(Communicator& contestant) const;

 private:
  void add(Context& context, const choice::ForcedAlgorithms& forced);

  std::vector<std::unique_ptr<Communicator>> all_;
};

}  // namespace popdist::algorithms
