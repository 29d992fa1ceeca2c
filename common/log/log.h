// SPDX-License-Identifier: Apache-2.0
// poprun's own messages on stderr, in PopRun's format: "HH:MM:SS.mmm PID POPRUN [I] text". Where only
// warnings are shown: "poprun: warning: text".
#pragma once

#include <functional>
#include <string_view>

namespace pop::log {

enum class Level { kWarning, kInfo, kDebug };

/// Messages above `level` are dropped. Warnings are always shown.
void setLevel(Level level);

/// Sends whole lines, newline included, to `sink` from now on; nullptr: to stderr, the default. A component
/// that writes to stderr without blocking takes the lines here, so that no line lands inside another one or
/// blocks on a slow reader.
void setSink(std::function<void(std::string_view line)> sink);

void warning(std::string_view text);
void info(std::string_view text);
void debug(std::string_view text);

}  // namespace pop::log
