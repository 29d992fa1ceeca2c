// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/text_table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "common/base/text.h"

namespace pop {
namespace {

using WallClock = std::chrono::system_clock;

std::string dateText(const char* form, const std::tm& time) {
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), form, &time)};
}

std::string twoUnits(long long most, const char* unit, long long rest, const char* smaller) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%lld %s %02lld %s", most, unit, rest, smaller);
  return text.data();
}

}  // namespace

std::string localTime(WallTime time) {
  const std::time_t seconds = WallClock::to_time_t(time);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return dateText("%Y-%m-%d %H:%M:%S", local);
}

std::string utcTime(WallTime time) {
  const std::time_t seconds = WallClock::to_time_t(time);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return dateText("%Y-%m-%dT%H:%M:%SZ", utc);
}

std::string orDash(const std::string& text) {
  return text.empty() ? "-" : printable(text);
}

std::string tookText(WallClock::duration time) {
  const long long seconds = std::max(0LL, std::chrono::floor<std::chrono::seconds>(time).count() + 0LL);
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (seconds < 3600) return twoUnits(seconds / 60, "min", seconds % 60, "s");
  if (seconds < 86400) return twoUnits(seconds / 3600, "h", seconds / 60 % 60, "min");
  return twoUnits(seconds / 86400, "d", seconds / 3600 % 24, "h");
}

std::string textTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.empty() ? 0 : rows.front().size());
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string table;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      table += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    table += row.back() + '\n';
  }
  return table;
}

}  // namespace pop
