// SPDX-License-Identifier: Apache-2.0
// Simulated time: whole picoseconds, so that the same collective takes exactly the same time on every
// machine. 64 bits hold 106 days.
#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>

namespace pop::pod {

using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;

/// Time of a link of `bytes_per_s` for `bytes`, rounded up. bytes_per_s > 0.
constexpr Picoseconds transferTime(std::uint64_t bytes, std::uint64_t bytes_per_s) {
  // Long division in two steps of a million: bytes * 10^12 would not fit in 64 bits.
  constexpr std::uint64_t kMillion = 1'000'000;
  const std::uint64_t seconds = bytes / bytes_per_s;
  const std::uint64_t below_second = bytes % bytes_per_s * kMillion;
  const std::uint64_t microseconds = below_second / bytes_per_s;
  const std::uint64_t below_microsecond = below_second % bytes_per_s * kMillion;
  const std::uint64_t picoseconds = (below_microsecond + bytes_per_s - 1) / bytes_per_s;
  return Picoseconds(static_cast<std::int64_t>((seconds * kMillion + microseconds) * kMillion + picoseconds));
}

}  // namespace pop::pod
