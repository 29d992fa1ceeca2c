// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/jobs_table.h"

#include "common/base/json.h"
#include "common/base/text.h"
#include "poprun/cli/shell_words.h"
#include "poprun/ui/text_table.h"

namespace pop {
namespace {

using WallClock = std::chrono::system_clock;
using Row = std::vector<std::string>;

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
  return {std::to_string(entry.id), orDash(entry.name),
          stateText(entry.state),   job.exit_code ? std::to_string(*job.exit_code) : "-",
          localTime(entry.begun),   known ? tookText((runs ? now : *entry.ended) - entry.begun) : "-",
          programText(job)};
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
  return textTable(rows);
}

std::string jobsJson(const std::vector<ListedJob>& jobs) {
  std::string lines;
  for (const ListedJob& job : jobs) lines += (lines.empty() ? "\n  " : ",\n  ") + jobJson(job);
  return '[' + lines + (lines.empty() ? "" : "\n") + "]\n";
}

}  // namespace pop
