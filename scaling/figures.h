// SPDX-License-Identifier: Apache-2.0
// Numbers for people, and tables of Markdown that read well in a terminal.
#pragma once

#include <string>
#include <vector>

namespace pop::scaling {

/// Three digits that mean something: "1234", "12.3", "0.0123".
std::string figure(double number);

/// "12.3 us", "1.23 ms", "4.56 s".
std::string timeText(double seconds);

/// "12 %", "0.4 %".
std::string percentText(double share);

/// The first row has the titles; each cell is ASCII and set to the right, those of the first column to the
/// left if it is `names`.
std::string tableOf(const std::vector<std::vector<std::string>>& rows, bool names = false);

}  // namespace pop::scaling
