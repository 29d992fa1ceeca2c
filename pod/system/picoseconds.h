// SPDX-License-Identifier: Apache-2.0
// Simulated time: whole picoseconds, so that the same collective takes exactly the same time on every
// machine. What is longer than the longest time counts as that: sums never wrap around.
#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>

#include "pod/system/saturating.h"

namespace pop::pod {

using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;

/// 53 days. Who shows times refuses one that has reached it.
inline constexpr Picoseconds kLongestTime{static_cast<std::int64_t>(kMostCounted)};

/// Times are at least 0, and at most kLongestTime.
constexpr Picoseconds sumOf(Picoseconds a, Picoseconds b) {
  const auto sum = sumOf(static_cast<std::uint64_t>(a.count()), static_cast<std::uint64_t>(b.count()));
  return Picoseconds(static_cast<std::int64_t>(sum));
}
constexpr Picoseconds productOf(Picoseconds time, std::uint64_t times) {
  return Picoseconds(static_cast<std::int64_t>(productOf(static_cast<std::uint64_t>(time.count()), times)));
}

/// Time of a link of `bytes_per_s`, from 1 to 10^16, for `bytes`, rounded up; kLongestTime for what cannot be
/// counted.
constexpr Picoseconds transferTime(std::uint64_t bytes, std::uint64_t bytes_per_s) {
  constexpr std::uint64_t kMostSeconds = kMostCounted / 1'000'000'000'000;
  if (bytes >= kMostCounted || bytes / bytes_per_s > kMostSeconds) return kLongestTime;
  // Long division in four steps of a thousand: bytes * 10^12 would not fit in 64 bits.
  std::uint64_t picoseconds = bytes / bytes_per_s;
  std::uint64_t rest = bytes % bytes_per_s;
  for (int step = 0; step < 4; ++step) {
    rest *= 1000;
    picoseconds = picoseconds * 1000 + rest / bytes_per_s;
    rest %= bytes_per_s;
  }
  picoseconds += rest > 0 ? 1 : 0;
  return Picoseconds(static_cast<std::int64_t>(std::min(picoseconds, kMostCounted)));
}

}  // namespace pop::pod
