// SPDX-License-Identifier: Apache-2.0
// Fair share: users who have used little of late go before users who have used much. Usage counts half after
// seven days. Pure.
#pragma once

#include <span>

#include "popdistd/queue/shape.h"

namespace pop::queue {

inline constexpr std::chrono::hours kHalfLife{7 * 24};

/// The usage of a user, as it counts at a time; its unit is a second of an instance, or of an IPU where these
/// are more.
struct Usage {
  double amount = 0;
  Time at{};
};

/// The same at a later time.
double decayed(const Usage& usage, Time now);

/// The usage, as it counts at `end`, of `width` in use from `begin` to `end`.
double usedBetween(double width, Time begin, Time end);

/// Instances or IPUs, whichever are more.
double widthOf(const Shape& shape);

struct Claimant {
  double used = 0;
  double share = 1;  ///< of all shares
  double claim = 1;  ///< see fillClaims()
};

/// 2 to the power of (part of all use) / (part of all shares), inverted: 1 for a user who has used nothing,
/// 1/2 for one who has used exactly their share.
void fillClaims(std::span<Claimant> claimants);

}  // namespace pop::queue
