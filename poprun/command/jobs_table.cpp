// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/jobs_table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "common/base/json.h"
#include "common/base/text.h"
#include "poprun/cli/shell_words.h"

namespace pop {
namespace {

using WallClock = std::chrono::system_clock;
using Row = std::array<std::string, 7>;

const Row kTitles{"ID", "NAME", "STATE", "EXIT", "BEGUN", "TOOK", "PROGRAM"};

std::string stateText(runner::JobState state) {
  switch (state) {
    case runner::JobState::kRunning:
      return "running";
    case runner::JobState::kEnded:
      return "ended";
    case runner::JobState::kLost:
      return "lost";
  }
  return {};
}

std::string dateText(const char* form, const std::tm& time) {
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), form, &time)};
}

std::string localTime(WallClock::time_point time) {
  const std::time_t seconds = WallClock::to_time_t(time);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return dateText("%Y-%m-%d %H:%M:%S", local);
}

std::string utcTime(WallClock::time_point time) {
  const std::time_t seconds = WallClock::to_time_t(time);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return dateText("%Y-%m-%dT%H:%M:%SZ", utc);
}

std::string twoUnits(long long most, const char* unit, long long rest, const char* smaller) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%lld %s %02lld %s", most, unit, rest, smaller);
  return text.data();
}

// "4 s", "2 min 05 s", "3 h 12 min", "2 d 07 h"
std::string tookText(WallClock::duration time) {
  const long long seconds = std::max(0LL, std::chrono::floor<std::chrono::seconds>(time).count() + 0LL);
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (seconds < 3600) return twoUnits(seconds / 60, "min", seconds % 60, "s");
  if (seconds < 86400) return twoUnits(seconds / 3600, "h", seconds / 60 % 60, "min");
  return twoUnits(seconds / 86400, "d", seconds / 3600 % 24, "h");
}

std::string programText(const ListedJob& job) {
  std::string text;
  for (const std::vector<std::string>& words : job.programs)
    text += (text.empty() ? "" : " : ") + cli::quoteShell(words);
  return text.empty() ? "?" : printable(text);
}

Row rowOf(const ListedJob& job, WallClock::time_point now) {
  const runner::JobEntry& entry = job.entry;
  const bool runs = entry.state == runner::JobState::kRunning;
  const bool known = runs || entry.ended;
  return {std::to_string(entry.id), entry.name.empty() ? "-" : printable(entry.name),
          stateText(entry.state),   job.exit_code ? std::to_string(*job.exit_code) : "-",
          localTime(entry.begun),   known ? tookText((runs ? now : *entry.ended) - entry.begun) : "-",
          programText(job)};
}

// All but the last column are ASCII.
std::string lineOf(const Row& row, const std::array<std::size_t, 7>& widths) {
  std::string line;
  for (std::size_t i = 0; i + 1 < row.size(); ++i)
    line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
  return line + row.back() + '\n';
}

std::string programsJson(const ListedJob& job) {
  if (job.programs.empty()) return "null";
  std::vector<std::string> programs;
  for (const std::vector<std::string>& words : job.programs) {
    std::vector<std::string> quoted;
    for (const std::string& word : words) quoted.push_back(jsonQuoted(word));
    programs.push_back('[' + join(quoted, ",") + ']');
  }
  return '[' + join(programs, ",") + ']';
}

std::string jobJson(const ListedJob& job) {
  const runner::JobEntry& entry = job.entry;
  return JsonObject()
      .number("id", entry.id)
      .json("name", entry.name.empty() ? "null" : jsonQuoted(entry.name))
      .text("state", stateText(entry.state))
      .json("exit_code", job.exit_code ? std::to_string(*job.exit_code) : "null")
      .text("begun", utcTime(entry.begun))
      .json("ended", entry.ended ? jsonQuoted(utcTime(*entry.ended)) : "null")
      .json("programs", programsJson(job))
      .text("directory", entry.path)
      .str();
}

}  // namespace

std::string jobsTable(const std::vector<ListedJob>& jobs, WallClock::time_point now) {
  if (jobs.empty()) return "no detached jobs\n";
  std::vector<Row> rows{kTitles};
  for (const ListedJob& job : jobs) rows.push_back(rowOf(job, now));
  std::array<std::size_t, 7> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string table;
  for (const Row& row : rows) table += lineOf(row, widths);
  return table;
}

std::string jobsJson(const std::vector<ListedJob>& jobs) {
  std::string lines;
  for (const ListedJob& job : jobs) lines += (lines.empty() ? "\n  " : ",\n  ") + jobJson(job);
  return '[' + lines + (lines.empty() ? "" : "\n") + "]\n";
}

}  // namespace pop
