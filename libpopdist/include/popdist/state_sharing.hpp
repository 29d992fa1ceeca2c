// SPDX-License-Identifier: Apache-2.0
// Sharing of an optimizer's state by replicas, and the gradients that an instance's updates read then.
#pragma once

#include <cstddef>
#include <vector>

#include "popdist/cxx20.hpp"

namespace popdist::train {

struct StateSharing {
  /// A part of FlatTensors::bytes().
  struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  int replicas = 1;           ///< that share one state: groups of so many consecutive ones
  std::vector<Part> parts{};  ///< one for each instance: two are the same, or have no byte in common
};

}  // namespace popdist::train
