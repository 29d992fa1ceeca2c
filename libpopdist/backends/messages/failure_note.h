// SPDX-License-Identifier: Apache-2.0
// What members tell each other when they cannot go on, as bytes.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "libpopdist/backends/messages/fabric.h"

namespace popdist::backends {

/// Longer messages are cut.
std::string noteOf(const Failure& failure);

/// Nothing for bytes that are no note of a failure.
std::optional<Failure> failureOf(std::span<const std::byte> note);

/// One member's wait that has become too long.
struct Wait {
  std::int32_t rank = -1;
  std::vector<std::int32_t> awaited;
};

std::string noteOf(const Wait& wait);

/// Nothing for bytes that are no note of a wait.
std::optional<Wait> waitOf(std::span<const std::byte> note);

}  // namespace popdist::backends
