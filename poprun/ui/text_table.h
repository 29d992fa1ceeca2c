// SPDX-License-Identifier: Apache-2.0
// Tables for people: columns of text, times and how long something took.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace pop {

using WallTime = std::chrono::system_clock::time_point;

/// One line for each row, the first with the titles; all rows have as many cells. All but the last column
/// are ASCII.
std::string textTable(const std::vector<std::vector<std::string>>& rows);

/// A cell: printable, "-" if it is empty.
std::string orDash(const std::string& text);

/// "2026-04-05 17:04:03", in this host's time zone.
std::string localTime(WallTime time);

/// "2026-04-05T15:04:03Z".
std::string utcTime(WallTime time);

/// "4 s", "2 min 05 s", "3 h 12 min", "2 d 07 h".
std::string tookText(std::chrono::system_clock::duration time);

}  // namespace pop
