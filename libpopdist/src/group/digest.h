// SPDX-License-Identifier: Apache-2.0
// Tells lists of numbers apart where all ranks should have the same.
#pragma once

#include <cstdint>

namespace popdist::group {

template <typename Numbers>
std::uint64_t digestOf(const Numbers& numbers) {
  std::uint64_t digest = 14695981039346656037U;  // FNV-1a
  for (const auto number : numbers) digest = (digest ^ static_cast<std::uint64_t>(number)) * 1099511628211U;
  return digest;
}

}  // namespace popdist::group
