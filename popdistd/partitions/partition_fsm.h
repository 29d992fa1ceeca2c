// SPDX-License-Identifier: Apache-2.0
// The state machine of a partition: one table, one pure step. A partition owns its IPUs from creating until
// removed, whatever happens in between: so no two jobs ever share one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace pop::vipu {

enum class PartitionState : std::uint8_t {
  kCreating,    ///< its IPUs are being configured
  kActive,      ///< jobs may use it
  kResetting,   ///< its IPUs are being configured again
  kError,       ///< a machine of it is lost
  kFailed,      ///< its IPUs could not be configured, and there are no more tries
  kRemoving,    ///< closed to jobs; it is being proved that its IPUs are not in use
  kQuarantine,  ///< that could not be proved: its IPUs are not given out until an operator decides
  kRemoved,
};

enum class PartitionEvent : std::uint8_t {
  kConfigured,
  kConfigFailed,  ///< may be tried again
  kRetriesOver,   ///< could not be configured, and may not be tried again
  kReset,         ///< a user's
  kAutoReset,     ///< the daemon's own, of a partition whose machine was lost
  kMachineLost,
  kRemove,
  kReleased,       ///< proved: its IPUs are not in use
  kNotReleased,    ///< that cannot be proved
  kForcedRelease,  ///< an operator takes the responsibility
};

/// The action that must follow a transition; its outcome is the next event.
enum class PartitionAction : std::uint8_t {
  kNone,
  kConfigure,  ///< its IPUs: kConfigured, kConfigFailed
  kRelease,    ///< find out whether its IPUs are in use: kReleased, kNotReleased
  kForget,     ///< it is gone, its IPUs and its name are free
};

struct PartitionTransition {
  PartitionState to;
  PartitionAction action;

  friend constexpr bool operator==(const PartitionTransition&, const PartitionTransition&) = default;
};

struct PartitionRow {
  PartitionState from;
  PartitionEvent on;
  PartitionState to;
  PartitionAction action;
};

inline constexpr std::array kPartitionTable = [] {
  using enum PartitionState;
  using enum PartitionEvent;
  using Do = PartitionAction;
  return std::array{
      PartitionRow{kCreating, kConfigured, kActive, Do::kNone},
      PartitionRow{kCreating, kConfigFailed, kResetting, Do::kConfigure},
      PartitionRow{kCreating, kRetriesOver, kFailed, Do::kNone},
      PartitionRow{kCreating, kMachineLost, kError, Do::kNone},
      PartitionRow{kCreating, kRemove, kRemoving, Do::kRelease},

      PartitionRow{kActive, kReset, kResetting, Do::kConfigure},
      PartitionRow{kActive, kMachineLost, kError, Do::kNone},
      PartitionRow{kActive, kRemove, kRemoving, Do::kRelease},

      PartitionRow{kResetting, kConfigured, kActive, Do::kNone},
      PartitionRow{kResetting, kConfigFailed, kResetting, Do::kConfigure},
      PartitionRow{kResetting, kRetriesOver, kFailed, Do::kNone},
      PartitionRow{kResetting, kMachineLost, kError, Do::kNone},
      PartitionRow{kResetting, kRemove, kRemoving, Do::kRelease},

      PartitionRow{kError, kReset, kResetting, Do::kConfigure},
      PartitionRow{kError, kAutoReset, kResetting, Do::kConfigure},
      PartitionRow{kError, kRemove, kRemoving, Do::kRelease},

      PartitionRow{kFailed, kReset, kResetting, Do::kConfigure},
      PartitionRow{kFailed, kRemove, kRemoving, Do::kRelease},

      PartitionRow{kRemoving, kReleased, kRemoved, Do::kForget},
      PartitionRow{kRemoving, kNotReleased, kQuarantine, Do::kNone},

      // A later proof counts, too.
      PartitionRow{kQuarantine, kReleased, kRemoved, Do::kForget},
      PartitionRow{kQuarantine, kRemove, kRemoving, Do::kRelease},
      PartitionRow{kQuarantine, kForcedRelease, kRemoved, Do::kForget},
  };
}();

/// The transition for `event` in `state`, or nothing if the event has no meaning there.
constexpr std::optional<PartitionTransition> step(PartitionState state, PartitionEvent event) {
  for (const PartitionRow& row : kPartitionTable) {
    if (row.from == state && row.on == event) return PartitionTransition{row.to, row.action};
  }
  return std::nullopt;
}

static_assert(!step(PartitionState::kRemoved, PartitionEvent::kReset), "nothing leaves removed");

}  // namespace pop::vipu
