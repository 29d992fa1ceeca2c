// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4 with 128 bits of output (Aumasson, Bernstein, 2012): a keyed hash. Without the key its output
// cannot be told from random. Short messages take tens of nanoseconds, so that every head can carry one.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace popdist::transport {

using Key = std::array<std::byte, 16>;
using Tag = std::array<std::byte, 16>;

Tag sipHash(const Key& key, std::span<const std::byte> message);

/// In a time that does not depend on where they differ.
bool sameTag(std::span<const std::byte, 16> one, std::span<const std::byte, 16> other);

}  // namespace popdist::transport
