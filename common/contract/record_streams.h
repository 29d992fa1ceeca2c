// SPDX-License-Identifier: Apache-2.0
// Contract of the daemon and runners besides the messages of proto/popdist/v1/host.proto, about streams of
// records.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pop::contract {

/// The upper bits of a stream's number are the daemon's life, so those of one life are above those of all
/// before.
inline constexpr int kStreamLifeShift = 32;

/// The credit that a record of so many bytes uses up: what it costs in memory and on the wire, too.
inline constexpr std::int64_t creditOf(std::size_t record_bytes) {
  return static_cast<std::int64_t>(record_bytes) + 64;
}

/// The number of an agent service's own order to stop a job, above all of the daemon's.
inline constexpr std::int32_t kServicesStop = 1'000'000'000;

}  // namespace pop::contract
