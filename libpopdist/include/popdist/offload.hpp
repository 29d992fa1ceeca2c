// SPDX-License-Identifier: Apache-2.0
// Whether a class of tensors leaves the memory of the IPUs.
#pragma once

#include <cstdint>

#include "popdist/cxx20.hpp"

namespace popdist::train {

enum class Offload : std::uint8_t {
  kAuto,  ///< on if it pays: each option says when
  kOn,
  kOff,
};

}  // namespace popdist::train
