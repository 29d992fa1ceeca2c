// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/turns.h"

#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "bench/harness/session.h"

namespace pop::bench {
namespace {

// Some launchers put tags before lines, or other lines between them.
bool hasEveryRank(const std::string& output, int processes) {
  constexpr std::string_view kMark = "rank ";
  std::set<int> ranks;
  for (auto at = output.find(kMark); at != std::string::npos; at = output.find(kMark, at + 1)) {
    int rank = -1;
    const char* digits = output.data() + at + kMark.size();
    if (std::from_chars(digits, output.data() + output.size(), rank).ec == std::errc{}) ranks.insert(rank);
  }
  return static_cast<int>(ranks.size()) == processes && *ranks.begin() == 0 &&
         *ranks.rbegin() == processes - 1;
}

// One contestant's figure, and the sample behind it.
struct Sample {
  TimeFigure figure;
  std::vector<double> wall_ms{}, cpu_ms{};

  void take(const Entry& entry, std::chrono::milliseconds quiet_timeout) {
    if (entry.get_ready) entry.get_ready();
    Turn turn = takeTurn(entry.command, quiet_timeout);
    turn.failure = failureOf(turn.run, entry.ranks);
    figure.runs.count(turn);
    if (turn.failure.empty()) {
      wall_ms.push_back(turn.wallMs());
      cpu_ms.push_back(turn.cpuMs());
    }
    JsonLine line("run");
    line.add("contestant", entry.contestant).add("program", figure.job_program).add("n", figure.processes);
    record(turn.addTo(line));
  }
};

}  // namespace

std::string failureOf(const Result<RunResult>& run, int ranks) {
  std::string failure = failureOf(run);
  if (failure.empty() && ranks > 0 && !hasEveryRank(run.value().output, ranks))
    return "the output of some ranks is missing";
  return failure;
}

void takeTimes(const Turns& turns, const std::vector<Entry>& entries, std::vector<TimeFigure>& figures) {
  std::vector<Sample> samples;
  for (const Entry& entry : entries) {
    samples.push_back({{entry.contestant, entry.is_peer, turns.job, turns.processes, {}, {}}});
    static_cast<void>(run(entry.command));  // warms up
  }
  for (int repeat = 1; repeat <= turns.repeats; ++repeat) {
    showProgress("time of " + turns.job + ", N = " + std::to_string(turns.processes) + ", round " +
                 std::to_string(repeat) + " of " + std::to_string(turns.repeats));
    for (std::size_t i = 0; i < entries.size(); ++i) samples[i].take(entries[i], turns.quiet_timeout);
  }
  for (Sample& each : samples) {
    each.figure.wall_ms = summarize(each.wall_ms);
    each.figure.cpu_ms = summarize(each.cpu_ms);
    figures.push_back(std::move(each.figure));
  }
}

}  // namespace pop::bench
