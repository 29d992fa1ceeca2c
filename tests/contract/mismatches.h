// SPDX-License-Identifier: Apache-2.0
// Calls of ranks that do not fit together, and what each rank must be told, whatever carries them out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/contract/wrong_calls.h"

namespace popdist::contract {

/// By what ranks see that their calls differ.
enum class Compared : std::uint8_t {
  kNotes,   ///< each reads all others' before anything moves: all are told in the call itself
  kFrames,  ///< messages name their call: a rank that has only sent is told in its next call
};

struct Mismatch {
  const char* what;
  Call odd;               ///< rank 1's
  Call other;             ///< every other rank's
  const char* odd_words;  ///< regular expression of what names the odd call
  const char* other_words;
};

const std::vector<Mismatch>& mismatches();

/// This rank's part of it, on a communicator of its own: the error must name both calls, every later call
/// must fail and say why, and a new communicator be as good as ever. Returns the mistake; empty: none.
std::string runMismatch(Context& context, const Mismatch& mismatch, Compared compared);

}  // namespace popdist::contract
