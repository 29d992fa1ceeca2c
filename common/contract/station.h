// SPDX-License-Identifier: Apache-2.0
// The call in which a thread of an instance waits, for the other instances of its host: two that wait for
// each other in different calls would wait for ever. Written only once a wait has taken long, and by its
// thread alone; any instance may have overwritten it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace pop::contract {

/// The number of stations of an instance: so many threads wait at a time. A thread that finds none free does
/// without.
inline constexpr std::size_t kStationsOfInstance = 4;
inline constexpr std::size_t kStationTextBytes = 232;

struct Station {
  std::atomic<std::uint32_t> taken{0};
  /// Changes with each wait: odd while an instance waits here.
  std::atomic<std::uint32_t> wait{0};
  std::atomic<std::uint32_t> group{0};  ///< the number of the communicator
  std::atomic<std::uint32_t> text_bytes{0};
  /// Names another instance's wait (claimOf), which only this thread could end, and does not as long as it
  /// waits here. 0: none.
  std::atomic<std::uint64_t> claim{0};
  char text[kStationTextBytes] = {};  ///< the call
};
static_assert(sizeof(Station) == 256);

/// A wait of an instance as one number: no other wait has it, until its thread has waited 2^32 times.
inline std::uint64_t claimOf(int instance, std::size_t station, std::uint32_t wait) {
  return (static_cast<std::uint64_t>(instance) * kStationsOfInstance + station + 1) << 32U | wait;
}

/// Takes the station for a wait in the call `text` of communicator `group`. False: another thread has it.
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

/// By the thread that has entered it: its wait is over.
inline void leaveStation(Station& station) {
  station.wait.fetch_add(1, std::memory_order_release);
  station.taken.store(0, std::memory_order_release);
}

/// The call, of any instance's station. Torn if its thread leaves meanwhile: compare `wait` before and after.
inline std::string textOf(const Station& station) {
  const std::size_t bytes = station.text_bytes.load(std::memory_order_relaxed);
  return {station.text, bytes < kStationTextBytes ? bytes : kStationTextBytes};
}

}  // namespace pop::contract
