// SPDX-License-Identifier: Apache-2.0
// Numbers as programs write them in text: "+1.5", " 3 ", "1e+05", "True", "-Inf", "1.#QNAN". Nothing is
// guessed: there are no commas in numbers, and a missing one is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "popdist/types.hpp"

namespace popdist::io {

enum class CsvReading : std::uint8_t { kDone, kNoNumber, kBeyond };

/// Writes the value of type `type` that `text` is. Numbers that are too small become 0, or what is nearest to
/// them; whole numbers may be written with a point or an exponent; true is 1, false is 0.
CsvReading readCsvValue(Type type, std::string_view text, std::byte* to);

}  // namespace popdist::io
