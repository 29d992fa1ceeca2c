// SPDX-License-Identifier: Apache-2.0
// The life of one instance on its host: one table, one pure step.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace pop::agent {

enum class LocalState : std::uint8_t {
  kPending,   ///< waits for its turn
  kSpawning,  ///< the keeper has been asked
  kRunning,
  kDraining,  ///< reaped; its output is still being delivered
  kClosed,
};

enum class LocalEvent : std::uint8_t { kSpawn, kSpawned, kSpawnFailed, kReaped, kDrained };

struct LocalRow {
  LocalState from;
  LocalEvent on;
  LocalState to;
};

inline constexpr std::array kLocalTable{
    LocalRow{LocalState::kPending, LocalEvent::kSpawn, LocalState::kSpawning},
    LocalRow{LocalState::kPending, LocalEvent::kSpawnFailed, LocalState::kClosed},  // the job ends before
    LocalRow{LocalState::kSpawning, LocalEvent::kSpawned, LocalState::kRunning},
    LocalRow{LocalState::kSpawning, LocalEvent::kSpawnFailed, LocalState::kClosed},
    LocalRow{LocalState::kRunning, LocalEvent::kReaped, LocalState::kDraining},
    LocalRow{LocalState::kDraining, LocalEvent::kDrained, LocalState::kClosed},
};

constexpr std::optional<LocalState> step(LocalState state, LocalEvent event) {
  for (const LocalRow& row : kLocalTable) {
    if (row.from == state && row.on == event) return row.to;
  }
  return std::nullopt;
}

}  // namespace pop::agent
