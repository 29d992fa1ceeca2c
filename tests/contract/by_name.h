// SPDX-License-Identifier: Apache-2.0
// Collectives that go on beside each other: matched by name, and fused.
#pragma once

#include <cstdint>
#include <string>

#include "popdist/async.hpp"
#include "popdist/context.hpp"

namespace popdist::contract {

/// One rank's part of `calls` calls of any kind that can be named, some at a time, each from a thread of its
/// own. Returns the mistake; empty: none. Passes on the calls' errors.
std::string runByName(Context& context, AsyncCommunicator& members, std::uint64_t seed, std::size_t calls,
                      bool exact);

/// Two steps of a fused all-reduce for each operator, of tensors of all types that it supports.
std::string runFused(Context& context, AsyncCommunicator& members, std::uint64_t seed, bool exact);

}  // namespace popdist::contract
