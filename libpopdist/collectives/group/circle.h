// SPDX-License-Identifier: Apache-2.0
// Circles of waits at the stations of a host, each of which keeps the one before from ending.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/contract/station.h"

namespace popdist::group {

/// The wait goes on: it is one of a station, and that station's present one.
bool lasts(std::span<const pop::contract::Station> stations, std::uint64_t wait);

/// The waits that this one cannot end before.
std::vector<std::uint64_t> blockersOf(std::span<const pop::contract::Station> stations, std::uint64_t wait);

/// A shortest circle: `own` and those behind it, each of which is one of blockersOf() the one before, as
/// `own` is of the last. Empty: there is none. Waits may end meanwhile: it stands if all of it lasts()
/// afterwards.
std::vector<std::uint64_t> circleThrough(std::span<const pop::contract::Station> stations, std::uint64_t own);

}  // namespace popdist::group
