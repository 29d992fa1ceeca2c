// SPDX-License-Identifier: Apache-2.0
// An all-reduce that splits the vector inside each row (or square) first, and then sums each part along its
// own rail: rungs and rails work at the same time, where a ring of all replicas leaves most rungs idle.
#pragma once

#include <optional>

#include "pod/collectives/schedule.h"
#include "pod/system/replica_layout.h"

namespace pop::pod {

/// The all-reduce of one-IPU replicas that fill the rows (of a twist: squares) of one IPU-Link domain;
/// nothing otherwise, or if a link is removed. Each part is reduce-scattered and gathered along its rail: on
/// a torus or a twist round its ring from both sides, on a ladder along its line in `pieces`, the next of
/// which is reduced while one is gathered. What a round of the rail needs is exchanged over the rung in the
/// round before, and what it brings in the round after. n rows: n + 2 rounds on a torus, 2 * (n - 1) +
/// (pieces - 1) * n + 2 on a ladder. A square takes 4 for 2.
std::optional<Schedule> splitAllReduce(const ReplicaLayout& layout, int pieces);

}  // namespace pop::pod
