// SPDX-License-Identifier: Apache-2.0
// Numbers with units, as people write them into files. Errors say what is wrong with the text, not where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status.h"

namespace pop::pod::predict {

/// "4.146 ms": a number from 0 to 1e6 seconds, and s, ms, us or ns.
Result<double> parseSeconds(std::string_view text);

/// "672 MB": a number from 0 to 1e15 bytes, and B, KB, MB, GB, KiB, MiB or GiB.
Result<std::uint64_t> parseBytes(std::string_view text);

/// A whole number from 1 to `most`.
Result<std::int64_t> parseCount(std::string_view text, std::int64_t most);

/// A number above 0, without a unit.
Result<double> parsePositive(std::string_view text);

/// "4.146 ms": reads back as about the same (six digits).
std::string secondsWithUnit(double seconds);

}  // namespace pop::pod::predict
