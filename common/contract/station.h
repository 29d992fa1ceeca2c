// SPDX-License-Identifier: Apache-2.0
// The call in which a thread of an instance waits, for the other instances of its host: those that wait for
// each other in a circle of different calls would wait for ever. Written only once a wait has taken long, and
// by its thread alone; any instance may have overwritten it.
#pragma once

#include <array>
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
inline constexpr std::size_t kBlockersOfStation = 8;
inline constexpr std::size_t kStationTextBytes = 224;
/// Stands for the number of fences that an instance has entered.
inline constexpr std::uint32_t kFencesOfSeveral = UINT32_MAX;

struct Station {
  std::atomic<std::uint32_t> taken{0};
  /// Changes with each wait: odd while an instance waits here.
  std::atomic<std::uint32_t> wait{0};
  std::atomic<std::uint32_t> group{0};  ///< the number of the communicator
  /// The value of `wait` in which its thread has found itself in a circle.
  std::atomic<std::uint32_t> in_circle{0};
  /// Bit n: on communicators whose number is n modulo 64 no other thread of the instance calls.
  std::atomic<std::uint64_t> own_groups{0};
  /// The number of fences that the instance has entered; kFencesOfSeveral: other threads of it enter some,
  /// too.
  std::atomic<std::uint32_t> fences{0};
  std::atomic<std::uint32_t> text_bytes{0};
  /// Waits of others (waitOf): as long as one of them lasts, this one cannot end. 0: none.
  std::array<std::atomic<std::uint64_t>, kBlockersOfStation> blockers{};
  char text[kStationTextBytes] = {};  ///< the call
};
static_assert(sizeof(Station) == 320);

/// The wait `wait` at station number `station` of all as one number: no other has it, until its thread has
/// waited 2^32 times.
inline std::uint64_t waitOf(std::size_t station, std::uint32_t wait) {
  return (static_cast<std::uint64_t>(station) + 1) << 32U | wait;
}
/// The inverse; beyond all stations for what is none.
inline std::size_t stationOf(std::uint64_t wait) {
  return static_cast<std::size_t>(wait >> 32U) - 1;
}

/// The bit of Station::own_groups.
inline std::uint64_t bitOfGroup(int number) {
  return std::uint64_t{1} << (static_cast<std::uint32_t>(number) % 64);
}

/// Takes the station for a wait in the call `text` of communicator `group`. False: another thread has it.
inline bool enterStation(Station& station, std::uint32_t group, std::string_view text) {
  std::uint32_t free = 0;
  if (!station.taken.compare_exchange_strong(free, 1, std::memory_order_acquire)) return false;
  station.group.store(group, std::memory_order_relaxed);
  const std::size_t bytes = text.size() < kStationTextBytes ? text.size() : kStationTextBytes;
  std::memcpy(station.text, text.data(), bytes);
  station.text_bytes.store(static_cast<std::uint32_t>(bytes), std::memory_order_relaxed);
  station.own_groups.store(0, std::memory_order_relaxed);
  station.fences.store(kFencesOfSeveral, std::memory_order_relaxed);
  for (std::atomic<std::uint64_t>& blocker : station.blockers) blocker.store(0, std::memory_order_relaxed);
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
