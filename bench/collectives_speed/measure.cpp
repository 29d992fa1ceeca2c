// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/measure.h"

#include <functional>
#include <map>
#include <optional>

#include "bench/collectives_speed/near_cores.h"
#include "bench/collectives_speed/series.h"
#include "bench/harness/machine.h"
#include "bench/harness/session.h"

namespace pop::bench::collectives {
namespace {

constexpr std::size_t kYardsticksFrom = 64 * kKiB;  // below, it is handing over that takes the time
constexpr std::size_t kSmallest = 64;               // one cache line
constexpr std::chrono::milliseconds kNearTimeout{3000};

// The series in a run's output; without any, the turn has failed. A wrong value is reported before the
// launchers' own messages.
std::vector<Series> seriesOf(Turn& turn) {
  if (!turn.run.ok()) return {};
  const std::string& output = turn.run.value().output;
  const std::size_t wrong = output.find("wrong result");
  if (!turn.failure.empty() && wrong != std::string::npos)
    turn.failure = inWords(turn.run.value()) + ": " + output.substr(wrong, output.find('\n', wrong) - wrong);
  std::vector<Series> series = seriesIn(output);
  if (turn.failure.empty() && series.empty()) turn.failure = "no figures in its output";
  return series;
}

/// All turns in one cell.
class CellMeasurement {
 public:
  CellMeasurement(const Cell& cell, const Options& options, int cores, NearCores& near)
      : cell_(cell), options_(options), cores_(cores), near_(near) {}

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
    Turn turn =
        bench::takeTurn({.argv = turns.contestant->commandLine(cell_, options_.batchesOfRun(), cores_),
                         .time_limit = options_.time_limit},
                        options_.quiet_timeout);
    const std::vector<Series> series = seriesOf(turn);
    const bool near = near_before && near_.areNear() && near_.standard() == standard_;
    heedStandard();
    JsonLine line("run");
    line.add("operation", nameOf(cell_.operation)).add("element", popdist::nameOf(cell_.type));
    line.add("ranks", cell_.ranks).add("bytes", cell_.bytes).add("contestant", turns.contestant->name);
    turn.addTo(line).add("near", near);
    if (turn.failure.empty()) {
      const std::vector<double>& values = series.front().values;
      line.add("batches", values.size()).add("median_us", summarize(values).median);
      turns.count(values, near, turn.before.quiet);
    } else {
      turns.figure.runs.count(turn);
    }
    record(line);
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
    Turn turn = bench::takeTurn({.argv = words, .time_limit = options_.time_limit}, {});
    for (const Series& series : seriesOf(turn)) {
      std::vector<double>& all = limits_[prefix + series.name];
      all.insert(all.end(), series.values.begin(), series.values.end());
    }
    if (!turn.failure.empty()) showProgress("limits: " + turn.failure + '\n');
  }

  // The median that `better` chooses among the series whose names begin with `prefix`.
  template <typename Better>
  std::optional<double> best(const std::string& prefix, const Better& better) const {
    std::optional<double> found;
    for (const auto& [name, values] : limits_) {
      if (!name.starts_with(prefix) || values.empty()) continue;
      const double median = summarize(values).median;
      if (!found || better(median, *found)) found = median;
    }
    return found;
  }

  CellLimits limits() const {
    return {.cell = cell_,
            .cores = cores_,
            .copy_where_data_is = best("B_u ", std::greater()),
            .copy_in_shared_cache = best("B_3 ", std::greater()),
            .tcp_stream = best("stream", std::greater()),
            .tcp_duplex = best("duplex", std::greater()),
            .tcp_swap = best("swap", std::less()),
            .flag = best("flag", std::greater()),
            .yield = best("yield", std::greater())};
  }

  const Cell cell_;
  const Options& options_;
  const int cores_;
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
  Turn turn =
      takeTurn({.argv = contestant.commandLine(smallest, 1, 1), .time_limit = std::chrono::seconds(20)}, {});
  seriesOf(turn);
  return turn.failure;
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
