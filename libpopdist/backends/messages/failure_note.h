// SPDX-License-Identifier: Apache-2.0
// A failure as the bytes that tell the other members of it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "libpopdist/backends/messages/fabric.h"

namespace popdist::backends {

/// At most this long; longer messages are cut.
inline constexpr std::size_t kMostNoteBytes = 1024;

std::string noteOf(const Failure& failure);

/// Nothing for bytes that are no note.
std::optional<Failure> failureOf(std::span<const std::byte> note);

}  // namespace popdist::backends
