// SPDX-License-Identifier: Apache-2.0
// A compiled collective as bytes, for a file: every copy of every round, and what the Pod would take.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "pod/collectives/schedule.h"
#include "popdist/pod.hpp"

namespace popdist::pod {

using namespace pop::pod;

struct CompiledCollective {
  Schedule schedule;
  PodCollective report;
};

/// A schedule of more copies is compiled anew each time.
inline constexpr std::size_t kMostStoredCopies = std::size_t{4} << 20;

/// `key` says what has been compiled, for which system. Empty: the schedule has more than kMostStoredCopies.
std::string programBytes(std::string_view key, const CompiledCollective& compiled);

/// kInvalidArgument unless these are the bytes of programBytes() with the same key, whole and unchanged, and
/// every copy is between replicas and within the vector.
pop::Result<CompiledCollective> programFromBytes(std::string_view bytes, std::string_view key);

}  // namespace popdist::pod
