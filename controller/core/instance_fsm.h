// SPDX-License-Identifier: Apache-2.0
// The state machine of one instance, as the controller sees it: one table, one pure step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace pop {

enum class InstanceState : std::uint8_t {
  kPending,   ///< not asked for yet
  kStarting,  ///< its agent has been asked to start it
  kRunning,
  kEnded,   ///< the process is gone, some of its output may still be on its way
  kClosed,  ///< nothing more will come
};
inline constexpr std::size_t kInstanceStates = 5;

enum class InstanceEvent : std::uint8_t { kStart, kStarted, kEnded, kClosed };

struct InstanceRow {
  InstanceState from;
  InstanceEvent on;
  InstanceState to;
};

inline constexpr std::array kInstanceTable{
    InstanceRow{InstanceState::kPending, InstanceEvent::kStart, InstanceState::kStarting},
    InstanceRow{InstanceState::kStarting, InstanceEvent::kStarted, InstanceState::kRunning},
    InstanceRow{InstanceState::kStarting, InstanceEvent::kEnded,
                InstanceState::kEnded},  // could not be started
    InstanceRow{InstanceState::kRunning, InstanceEvent::kEnded, InstanceState::kEnded},
    InstanceRow{InstanceState::kEnded, InstanceEvent::kClosed, InstanceState::kClosed},
};

constexpr std::optional<InstanceState> step(InstanceState state, InstanceEvent event) {
  for (const InstanceRow& row : kInstanceTable) {
    if (row.from == state && row.on == event) return row.to;
  }
  return std::nullopt;
}

}  // namespace pop
