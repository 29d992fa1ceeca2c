// SPDX-License-Identifier: Apache-2.0
// Rates and times with their units, read and printed. Numbers are decimal and at least 0; what is rounded is
// rounded to whole bytes per second and picoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "pod/system/picoseconds.h"

namespace pop::pod {

/// A finite number, at least 0. kInvalidArgument otherwise.
Result<double> numberOf(std::string_view text);

/// "58.4" "GB/s": B/s, kB/s, MB/s, GB/s, TB/s, MiB/s, GiB/s, Mbit/s, Gbit/s, Tbit/s. At least 1 byte a second
/// and at most 10^15: kInvalidArgument otherwise.
Result<std::uint64_t> rateOf(std::string_view number, std::string_view unit);
std::string rateText(std::uint64_t bytes_per_s);

/// "10" "us": ps, ns, us, ms, s. At most an hour.
Result<Picoseconds> timeOf(std::string_view number, std::string_view unit);
std::string timeText(Picoseconds time);

}  // namespace pop::pod
