// SPDX-License-Identifier: Apache-2.0
// What poprun says of itself on stderr, in PopRun's form: "HH:MM:SS.mmm PID POPRUN [I] text".
#pragma once

#include <functional>
#include <string_view>

namespace pop::log {

enum class Level { kWarning, kInfo, kDebug };

/// Messages above `level` are dropped. Warnings are always shown.
void setLevel(Level level);

/// Where whole lines go from now on, newline included; nullptr: to stderr, as at first. Whoever else writes
/// to stderr without blocking takes them here, so that none lands inside a line or waits for a reader.
void setSink(std::function<void(std::string_view line)> sink);

void warning(std::string_view text);
void info(std::string_view text);
void debug(std::string_view text);

}  // namespace pop::log
