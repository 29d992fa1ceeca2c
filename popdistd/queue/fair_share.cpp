// SPDX-License-Identifier: Apache-2.0
#include "popdistd/queue/fair_share.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pop::queue {
namespace {

double halfLives(Time begin, Time end) {
  return std::max(0.0, std::chrono::duration<double>(end - begin) / std::chrono::duration<double>(kHalfLife));
}

}  // namespace

double decayed(const Usage& usage, Time now) {
  return usage.amount * std::exp2(-halfLives(usage.at, now));
}

// The integral of what decays from each moment to the end.
double usedBetween(double width, Time begin, Time end) {
  const double half_life_s = std::chrono::duration<double>(kHalfLife).count();
  return width * half_life_s / std::numbers::ln2 * (1 - std::exp2(-halfLives(begin, end)));
}

double widthOf(const Shape& shape) {
  return std::max(shape.instances, shape.ipus);
}

void fillClaims(std::span<Claimant> claimants) {
  double used = 0;
  double shares = 0;
  for (const Claimant& each : claimants) {
    used += each.used;
    shares += each.share;
  }
  for (Claimant& each : claimants) {
    const double part_used = used > 0 ? each.used / used : 0;
    const double part_owed = shares > 0 ? each.share / shares : 0;
    each.claim = part_used == 0 ? 1 : part_owed == 0 ? 0 : std::exp2(-part_used / part_owed);
  }
}

}  // namespace pop::queue
