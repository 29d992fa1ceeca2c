// SPDX-License-Identifier: Apache-2.0
// One rank's part of a case: buffers, the call, a look at the result.
#pragma once

#include <string>

#include "popdist/context.hpp"
#include "tests/contract/case.h"
#include "tests/contract/members.h"

namespace popdist::contract {

/// The place of buffers. kMixed: each rank's input and output here or there, by the case's seed.
enum class Memory : std::uint8_t { kPrivate, kShared, kMixed };

const char* nameOf(Memory memory);

/// Makes the call and returns what is wrong with its result, its input or the bytes around them; empty:
/// nothing. Buffers begin at odd addresses where `unaligned`. Passes on what the call throws.
std::string runCase(Context& context, const Members& members, const Case& tested, Memory memory,
                    bool unaligned);
inline std::string runCase(Context& context, Communicator& communicator, const Case& tested, Memory memory,
                           bool unaligned) {
  return runCase(context, membersOf(communicator), tested, memory, unaligned);
}

/// A case of any kind for `ranks` ranks, with blocks of at most `most_bytes`.
Case randomCase(std::uint64_t seed, int ranks, std::size_t most_bytes);

}  // namespace popdist::contract
