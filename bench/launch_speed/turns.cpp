// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/turns.h"

#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "bench/harness/machine.h"

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

// The last line, where most programs report their errors.
std::string lastLineOf(std::string output) {
  while (!output.empty() && output.back() == '\n') output.pop_back();
  const std::size_t line_feed = output.rfind('\n');
  return output.substr(line_feed == std::string::npos ? 0 : line_feed + 1).substr(0, 200);
}

struct Samples {
  std::vector<double> wall_ms;
  std::vector<double> cpu_ms;
};

void takeTime(const Turns& turns, const Entry& entry, const QuietGate& gate, const Hooks& hooks,
              TimeFigure& figure, Samples& samples) {
  if (entry.get_ready) entry.get_ready();
  const QuietGate::Passed passed = gate.wait();
  const CpuTimes before = readCpuTimes();
  const Result<RunResult> result = run(entry.command);
  const CpuTimes during = readCpuTimes().since(before);
  const std::string failure = failureOf(result, entry.ranks);
  const bool hung = result.ok() && result.value().end == End::kTimedOut;
  const double wall_ms = result.ok() ? result.value().wall_s * 1e3 : 0;
  const double cpu_ms = result.ok() ? result.value().cpu_s * 1e3 : 0;
  if (failure.empty()) {
    samples.wall_ms.push_back(wall_ms);
    samples.cpu_ms.push_back(cpu_ms);
    if (!passed.quiet) ++figure.not_quiet;
  } else {
    ++(hung ? figure.hung : figure.failed);
    if (figure.failure.empty()) figure.failure = failure;
  }
  JsonLine line("run");
  line.add("contestant", entry.contestant).add("program", turns.job).add("n", turns.processes);
  line.add("end", failure.empty() ? "ok" : hung ? "hung" : "failed");
  line.add("wall_ms", wall_ms).add("cpu_ms", cpu_ms);
  line.add("quiet", passed.quiet).add("idle_before", passed.idle_fraction);
  line.add("idle_ticks", during.idle).add("busy_ticks", during.busy).add("steal_ticks", during.steal);
  if (!failure.empty()) line.add("failure", failure);
  hooks.record(line);
}

}  // namespace

std::string failureOf(const Result<RunResult>& run, int ranks) {
  if (!run.ok()) return run.status().message();
  if (!run.value().succeeded())
    return inWords(run.value()) + ", output ends: " + lastLineOf(run.value().output);
  if (ranks > 0 && !hasEveryRank(run.value().output, ranks)) return "the output of some ranks is missing";
  return {};
}

std::vector<TimeFigure> takeTimes(const Turns& turns, const std::vector<Entry>& entries,
                                  const QuietGate& gate, const Hooks& hooks) {
  std::vector<TimeFigure> figures;
  for (const Entry& entry : entries)
    figures.push_back({entry.contestant, entry.is_peer, turns.job, turns.processes});
  std::vector<Samples> samples(entries.size());
  for (int repeat = -1; repeat < turns.repeats; ++repeat) {  // the first round warms up
    hooks.progress("time of " + turns.job + ", N = " + std::to_string(turns.processes) + ", round " +
                   std::to_string(repeat + 1) + " of " + std::to_string(turns.repeats));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (repeat < 0)
        static_cast<void>(run(entries[i].command));
      else
        takeTime(turns, entries[i], gate, hooks, figures[i], samples[i]);
    }
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    figures[i].wall_ms = summarize(samples[i].wall_ms);
    figures[i].cpu_ms = summarize(samples[i].cpu_ms);
  }
  return figures;
}

}  // namespace pop::bench
