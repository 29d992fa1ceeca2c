// SPDX-License-Identifier: Apache-2.0
// What a thread of an instance waits in, for the other instances of its host: two that wait for each other in
// different calls would wait for ever. Written only once a wait has taken long, and by its thread alone; any
// instance may have overwritten it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace pop::contract {

/// Of threads of an instance that wait at the same time. One that finds none does without.
inline constexpr std::size_t kStationsOfInstance = 4;
inline constexpr std::size_t kStationTextBytes = 224;

struct Station {
  std::atomic<std::uint32_t> taken{0};
  /// Changes with each wait: odd while somebody waits here.
  std::atomic<std::uint32_t> wait{0};
  std::atomic<std::uint32_t> group{0};  ///< the number of the communicator
  std::atomic<std::uint32_t> text_bytes{0};
  /// Of another instance's wait, which only this thread could end, and does not as long as it waits here:
  /// claimOf. 0: of none.
  std::atomic<std::uint64_t> claim{0};
  char text[kStationTextBytes] = {};  ///< the call
  std::uint64_t unused = 0;
};
static_assert(sizeof(Station) == 256);

inline std::uint64_t claimOf(int instance, std::size_t station, std::uint32_t wait) {
  return (static_cast<std::uint64_t>(instance) * kStationsOfInstance + station + 1) << 32U | wait;
}

/// False: another thread has it.
inline bool enterStation(Station& station, std::uint32_t group, std::string_view text) {
  std::uint32_t free = 0;
  if (!station.taken.compare_exchange_strong(free, 1, std::memory_order_acquire)) return false;
  station.group.store(group, std::memory_order_relaxed);
  const std::size_t bytes = text.size() < kStationTextBytes ? text.size() : kStationTextBytes;
  std::memcpy(station.text, text.data(), bytes);
  station.text_bytes.store(static_cast<std::uint32_t>(bytes), std::memory_order_relaxed);
  station.claim.store(0, std::memory_order_relaxed);
  station.wait.fetch_add(1, std::memory_order_release);
  return true;
}

inline void leaveStation(Station& station) {
  station.wait.fetch_add(1, std::memory_order_release);
  station.taken.store(0, std::memory_order_release);
}

inline std::string textOf(const Station& station) {
  const std::size_t bytes = station.text_bytes.load(std::memory_order_relaxed);
  return {station.text, bytes < kStationTextBytes ? bytes : kStationTextBytes};
}

}  // namespace pop::contract
