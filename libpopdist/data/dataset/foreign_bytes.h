// SPDX-License-Identifier: Apache-2.0
// Copies values out of files that other programs wrote.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "popdist/types.hpp"

namespace popdist::io {

/// Any byte pattern is a value of each type but bool, which is 1 for every byte that is not 0.
inline void copyForeign(Type type, std::span<const std::byte> from, std::byte* to) {
  if (type != Type::kBool) {
    std::memcpy(to, from.data(), from.size());
    return;
  }
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::byte{from[i] != std::byte{0}};
}

}  // namespace popdist::io
