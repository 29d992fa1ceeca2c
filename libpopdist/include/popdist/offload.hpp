// SPDX-License-Identifier: Apache-2.0
// Choice for a class of tensors: do they leave the memory of the IPUs?
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
