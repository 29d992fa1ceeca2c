// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/measure.h"

#include <algorithm>
#include <map>
#include <optional>

#include "bench/collectives_speed/near_cores.h"
#include "bench/collectives_speed/series.h"
#include "bench/collectives_speed/turns.h"
#include "bench/harness/command.h"
#include "bench/harness/machine.h"
#include "bench/harness/quiet_gate.h"
#include "bench/harness/session.h"

namespace pop::bench::collectives {
namespace {

constexpr std::size_t kYardsticksFrom = 64 * kKiB;  // below, it is handing over that takes the time
constexpr std::size_t kSmallest = 64;               // one cache line
constexpr std::chrono::milliseconds kNearTimeout{3000};

// The last line, where most programs report their errors.
std::string lastLineOf(std::string output) {
  while (!output.empty() && output.back() == '\n') output.pop_back();
  const std::size_t line_feed = output.rfind('\n');
  return output.substr(line_feed == std::string::npos ? 0 : line_feed + 1).substr(0, 200);
}

// A wrong value is reported before the launchers' own messages.
std::string whatWentWrong(const std::string& output) {
  const std::size_t wrong = output.find("wrong result");
  return wrong == std::string::npos ? lastLineOf(output)
                                    : output.substr(wrong, output.find('\n', wrong) - wrong);
}

struct Outcome {
  std::vector<Series> series;
  bool hung = false;
  std::string failure;  // empty: it ended well
};

Outcome runAndRead(std::vector<std::string> words, std::chrono::milliseconds time_limit) {
  const Result<RunResult> result = run({.argv = std::move(words), .time_limit = time_limit});
  if (!result.ok()) return {.failure = result.status().message()};
  const RunResult& ended = result.value();
  Outcome outcome{.series = seriesIn(ended.output), .hung = ended.end == End::kTimedOut};
  if (!ended.succeeded())
    outcome.failure = inWords(ended) + ": " + whatWentWrong(ended.output);
  else if (outcome.series.empty())
    outcome.failure = "no figures in its output";
  return outcome;
}

/// All turns in one cell.
class CellMeasurement {
 public:
  CellMeasurement(const Cell& cell, const Options& options, int cores, NearCores& near)
      : cell_(cell), options_(options), cores_(cores), gate_(options.quiet_timeout), near_(near) {}

  void addContestant(const Contestant& contestant) {
    if (!contestant.takesPart(cell_)) return;
    turns_.push_back({.contestant = &contestant,
                      .figure = {.cell = cell_, .contestant = contestant.name, .family = contestant.family}});
    has_tcp_ = has_tcp_ || isOverTcp(contestant.name, contestant.family);
  }

  void take(const LimitsProgram& limits_program) {
    if (turns_.empty()) return;
    for (int round = 0; round < options_.rounds + kMoreRounds; ++round) {
      if (round < options_.rounds) takeLimits(limits_program);
      for (Turns& each : turns_) {
        if (each.near_turns + each.bad() >= options_.rounds) continue;
        showProgress(inWords(cell_) + ", round " + std::to_string(round + 1) + ", " + each.figure.contestant);
        takeTurn(each);
      }
    }
  }

  void addTo(Figures& figures) const {
    for (const Turns& each : turns_) figures.times.push_back(each.result());
    if (!limits_.empty()) figures.limits.push_back(limits());
  }

 private:
  // Additional turns for contestants that ran on distant cores.
  static constexpr int kMoreRounds = 2;

  void takeTurn(Turns& turns) {
    const bool near_before = near_.wait();
    heedStandard();
    const QuietGate::Passed passed = gate_.wait();
    const CpuTimes before = readCpuTimes();
    const Outcome outcome = runAndRead(turns.contestant->commandLine(cell_, options_.batchesOfRun(), cores_),
                                       options_.time_limit);
    const CpuTimes during = readCpuTimes().since(before);
    const bool near = near_before && near_.areNear() && near_.standard() == standard_;
    heedStandard();
    record(lineOf(*turns.contestant, outcome)
               .add("quiet", passed.quiet)
               .add("idle_before", passed.idle_fraction)
               .add("near", near)
               .add("busy_ticks", during.busy)
               .add("steal_ticks", during.steal));
    if (outcome.failure.empty()) return turns.count(outcome.series.front().values, near, passed.quiet);
    ++(outcome.hung ? turns.figure.hung : turns.figure.failed);
    if (turns.figure.failure.empty()) turns.figure.failure = outcome.failure;
  }

  // No cell shows figures of both states together without a mark.
  void heedStandard() {
    if (standard_ == near_.standard()) return;
    standard_ = near_.standard();
    for (Turns& each : turns_) each.nearWasFar();
  }

  // The raw measurements for this cell's yardsticks; their names begin with their purpose.
  void takeLimits(const LimitsProgram& limits_program) {
    if (cell_.type != popdist::Type::kFloat) return;
    const std::string& program = limits_program.path;
    const bool is_all_reduce = cell_.operation == Operation::kAllReduce;
    const std::string batches = std::to_string(options_.batchesOfRun());
    showProgress(inWords(cell_) + ", limits");
    if (is_all_reduce && cell_.bytes >= kYardsticksFrom) {
      const Caches caches = cachesOfThisMachine();
      takeLimit("B_u ", {program, "copy", batches, std::to_string(copyBytes(cell_, caches, cores_))});
      takeLimit("B_3 ", {program, "copy", batches, std::to_string(copyBytesInSharedCache(caches))});
    }
    if (has_tcp_ && cell_.bytes >= kYardsticksFrom &&
        (is_all_reduce || cell_.operation == Operation::kBroadcast)) {
      std::vector<std::string> words{program, "tcp", batches, std::to_string(cell_.bytes)};
      words.insert(words.end(), limits_program.tcp_path.begin(), limits_program.tcp_path.end());
      takeLimit("", words);
    }
    if (cell_.operation == Operation::kBarrier || (is_all_reduce && cell_.bytes <= kSmallest))
      takeLimit("", {program, "handover", batches});
  }

  void takeLimit(const std::string& prefix, const std::vector<std::string>& words) {
    near_.wait();
    const Outcome outcome = runAndRead(words, options_.time_limit);
    if (!outcome.failure.empty()) showProgress("limits: " + outcome.failure + '\n');
    for (const Series& series : outcome.series) {
      std::vector<double>& all = limits_[prefix + series.name];
      all.insert(all.end(), series.values.begin(), series.values.end());
    }
  }

  // The highest median of all series whose names begin with `name`.
  std::optional<double> best(const std::string& prefix) const {
    std::optional<double> found;
    for (const auto& [name, values] : limits_) {
      if (!name.starts_with(prefix) || values.empty()) continue;
      found = std::max(found.value_or(0), summarize(values).median);
    }
    return found;
  }

  // The same for times: the lowest.
  std::optional<double> quickest(const std::string& prefix) const {
    std::optional<double> found;
    for (const auto& [name, values] : limits_) {
      if (!name.starts_with(prefix) || values.empty()) continue;
      const double median = summarize(values).median;
      found = std::min(found.value_or(median), median);
    }
    return found;
  }

  CellLimits limits() const {
    return {.cell = cell_,
            .cores = cores_,
            .copy_where_data_is = best("B_u "),
            .copy_in_shared_cache = best("B_3 "),
            .tcp_stream = best("stream"),
            .tcp_duplex = best("duplex"),
            .tcp_swap = quickest("swap"),
            .flag = best("flag"),
            .yield = best("yield")};
  }

  JsonLine lineOf(const Contestant& contestant, const Outcome& outcome) const {
    JsonLine line("run");
    line.add("operation", nameOf(cell_.operation))
        .add("element", popdist::nameOf(cell_.type))
        .add("ranks", cell_.ranks)
        .add("bytes", cell_.bytes)
        .add("contestant", contestant.name)
        .add("end", outcome.failure.empty() ? "ok"
                    : outcome.hung          ? "hung"
                                            : "failed");
    if (!outcome.failure.empty()) return line.add("failure", outcome.failure);
    const std::vector<double>& values = outcome.series.front().values;
    return line.add("batches", values.size()).add("median_us", summarize(values).median);
  }

  const Cell cell_;
  const Options& options_;
  const int cores_;
  const QuietGate gate_;
  NearCores& near_;
  int standard_ = near_.standard();  // that the near turns were held against
  bool has_tcp_ = false;
  std::vector<Turns> turns_;  // of each contestant
  std::map<std::string, std::vector<double>> limits_;
};

}  // namespace

std::string whyUnusable(const Contestant& contestant) {
  if (contestant.launcher.empty()) return "its launcher is not installed";
  if (contestant.rank_program.empty()) return "its library or headers are not installed";
  const Cell smallest{Operation::kAllReduce, popdist::Type::kFloat, 2, 8};
  return runAndRead(contestant.commandLine(smallest, 1, 1), std::chrono::seconds(20)).failure;
}

Figures measureAll(const std::vector<Contestant>& contestants, const LimitsProgram& limits_program,
                   const Options& options) {
  const int cores = options.coresOfRanks(describeMachine().cores);
  Figures figures;
  NearCores near(options.quiet_timeout.count() > 0 ? kNearTimeout : std::chrono::milliseconds(0));
  for (const Cell& cell : cellsOf(options)) {
    CellMeasurement measurement(cell, options, cores, near);
    for (const Contestant& contestant : contestants) measurement.addContestant(contestant);
    measurement.take(limits_program);
    measurement.addTo(figures);
  }
  return figures;
}

}  // namespace pop::bench::collectives
