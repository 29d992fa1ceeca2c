// SPDX-License-Identifier: Apache-2.0
// The values that a program has set by Trainer::parametersOf, for the comparison at the beginning of the next
// call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "popdist/parameters.hpp"

namespace popdist::train {

class ValuesGiven {
 public:
  /// The program is about to get the values of one of `replicas`, and may change them. Costs a pass over
  /// them.
  void open(std::span<const FlatTensors> replicas);
  /// The parameters that have changed since, with a digest of their values: the same text wherever the same
  /// has been set. "none" before open(), and then free.
  std::string text(std::span<const FlatTensors> replicas) const;
  /// All have compared.
  void close() { before_.clear(); }

 private:
  std::vector<std::uint32_t> before_;  // digests, parameter by parameter, of each replica
};

}  // namespace popdist::train
