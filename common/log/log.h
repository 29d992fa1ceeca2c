// SPDX-License-Identifier: Apache-2.0
// What poprun says of itself on stderr, in PopRun's form: "HH:MM:SS.mmm PID POPRUN [I] text".
#pragma once

#include <string_view>

namespace pop::log {

enum class Level { kWarning, kInfo, kDebug };

/// Messages above `level` are dropped. Warnings are always shown.
void setLevel(Level level);

void warning(std::string_view text);
void info(std::string_view text);
void debug(std::string_view text);

}  // namespace pop::log
