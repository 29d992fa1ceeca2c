// SPDX-License-Identifier: Apache-2.0
// Numbers, and amounts with their units, as people write them into files and options: read, and printed.
// Numbers are decimal. Errors (kInvalidArgument) say what is wrong with the text, not where it stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "pod/system/picoseconds.h"

namespace pop::pod {

/// A finite number, at least 0.
Result<double> numberOf(std::string_view text);

/// A finite number above 0.
Result<double> positiveOf(std::string_view text);

/// A whole number from 1 to `most`.
Result<std::int64_t> countOf(std::string_view text, std::int64_t most);

/// "58.4 GB/s": B/s, kB/s, MB/s, GB/s, TB/s, MiB/s, GiB/s, Mbit/s, Gbit/s, Tbit/s. Whole bytes a second, from
/// 1 to 10^15.
Result<std::uint64_t> rateOf(std::string_view text);
std::string rateText(std::uint64_t bytes_per_s);

/// "10 us": ps, ns, us, ms, s. At most `most`.
Result<Picoseconds> timeOf(std::string_view text, Picoseconds most);
std::string timeText(Picoseconds time);

/// "4.146 ms": reads back as about the same (six digits). Of any sign.
std::string secondsWithUnit(double seconds);

/// "672 MB": B, KB, MB, GB, KiB, MiB, GiB. At most 10^15 bytes.
Result<std::uint64_t> bytesOf(std::string_view text);

}  // namespace pop::pod
