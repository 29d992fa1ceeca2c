// SPDX-License-Identifier: Apache-2.0
// Measures how much of the reduction of gradients hides behind a backward pass: between two network
// namespaces joined by a link of 1 Gbit/s, and in shared memory. JSON lines on stdout, tables on stderr. It
// only reports: its exit code does not depend on the figures.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/results.h"
#include "bench/harness/session.h"
#include "bench/harness/table.h"
#include "bench/overlap_speed/backward.h"
#include "tests/testing/thread_group.h"

namespace pop::bench {
namespace {

constexpr int kMbitPerS = 1000;
constexpr double kLeastHiddenShare = 0.8;
constexpr double kMostInSharedMemory = 1.02;

/// Below it others had the cores.
constexpr double kCalm = 0.9;

struct Medians {
  double hidden = 0;
  double ratio = 0;           // with / without
  double ratio_of_least = 0;  // the quickest round's with / the quickest round's without
  bool is_noisy = false;
};

class Overlaps {
 public:
  /// Ratios are medians of the rounds' ratios.
  Medians add(const BackwardSetting& setting, const std::vector<BackwardTimes>& rounds) {
    const auto median = [&](const std::function<double(const BackwardTimes&)>& of) {
      std::vector<double> all;
      for (const BackwardTimes& round : rounds) all.push_back(of(round));
      return summarize(all).median;
    };
    for (const BackwardTimes& round : rounds) record(lineOf(setting, round));
    const auto ms = [&](double BackwardTimes::*time) {
      return fixed(1e3 * median([time](const BackwardTimes& round) { return round.*time; }), 1);
    };
    const Medians medians{
        .hidden = median([&](const BackwardTimes& round) { return round.hiddenShare(setting.layers); }),
        .ratio = median([](const BackwardTimes& round) { return round.with / round.without; }),
        .ratio_of_least = least(rounds, &BackwardTimes::with) / least(rounds, &BackwardTimes::without),
        .is_noisy = median([&](const BackwardTimes& round) { return round.calmness(setting); }) < kCalm};
    // A share of next to nothing says nothing.
    const bool is_large =
        median([](const BackwardTimes& round) { return round.reduction / round.compute; }) > 0.2;
    table_.addRow({setting.name, ms(&BackwardTimes::compute), ms(&BackwardTimes::reduction),
                   ms(&BackwardTimes::without), ms(&BackwardTimes::with),
                   is_large ? fixed(100 * medians.hidden, 0) + " %" : "-", fixed(medians.ratio, 3),
                   fixed(medians.ratio_of_least, 3)});
    return medians;
  }

  void addGoal(Goal goal) { goals_.push_back(std::move(goal)); }
  void show() const { report(table_.text() + '\n', {}, goals_); }

 private:
  static double least(const std::vector<BackwardTimes>& rounds, double BackwardTimes::*time) {
    double least = rounds.front().*time;
    for (const BackwardTimes& round : rounds) least = std::min(least, round.*time);
    return least;
  }

  static JsonLine lineOf(const BackwardSetting& setting, const BackwardTimes& round) {
    return JsonLine("round")
        .add("setting", setting.name)
        .add("computes", nameOf(setting.computes))
        .add("layer_ms", setting.layer_ms)
        .add("bucket_bytes", setting.fusion.bucket_bytes)
        .add("updates", setting.updates)
        .add("compute_s", round.compute)
        .add("reduction_s", round.reduction)
        .add("without_s", round.without)
        .add("with_s", round.with)
        .add("calmness", round.calmness(setting));
  }

  Table table_{{"8 layers; ms", "compute", "reduction", "without overlap", "with", "hidden", "with / without",
                "least / least"}};
  std::vector<Goal> goals_;
};

void measureLink(Overlaps& results, BackwardSetting setting, bool has_goal) {
  setting.name = std::string("1 Gbit/s, the ") + nameOf(setting.computes) + " computes" + setting.name;
  showProgress(setting.name);
  const auto rounds = measureOverTwoHosts(kMbitPerS, setting);
  if (!rounds.ok()) {
    isUsable(setting.name, rounds.status().message());
    return;
  }
  const Medians medians = results.add(setting, rounds.value());
  if (has_goal)
    results.addGoal(
        {"hidden, " + setting.name, medians.hidden, kLeastHiddenShare, true, "", medians.is_noisy});
}

void measureLinks(Overlaps& results) {
  measureLink(results, {}, true);
  measureLink(results, {.name = ", with adam", .updates = true}, true);
  measureLink(results, {.name = ", buckets of 2 layers", .fusion = {.bucket_bytes = 8 << 20}}, false);
  measureLink(results, {.computes = Computes::kHost}, true);
}

void measureSharedMemory(Overlaps& results, Computes computes, double layer_ms) {
  const BackwardSetting setting{.name = std::string("shared memory, the ") + nameOf(computes) +
                                        " computes, " + fixed(layer_ms, 0) + " ms a layer",
                                .layer_ms = layer_ms,
                                .computes = computes,
                                .rounds = layer_ms < 5 ? 61 : 15};
  showProgress(setting.name);
  std::vector<BackwardTimes> rounds;
  popdist::testing::ThreadGroup(2).run([&](popdist::Context& context) {
    const std::vector<BackwardTimes> measured = measureBackward(context, setting);
    if (context.instanceIndex() == 0) rounds = measured;
  });
  const Medians medians = results.add(setting, rounds);
  results.addGoal(
      {"with / without, " + setting.name, medians.ratio, kMostInSharedMemory, false, "", medians.is_noisy});
  // Other programs slow single rounds of either kind: the quickest rounds are comparable.
  results.addGoal(
      {"the same, quickest rounds, " + setting.name, medians.ratio_of_least, kMostInSharedMemory});
}

int benchmark() {
  beginSession();
  Overlaps links;
  measureLinks(links);  // forks, so before threads
  links.show();
  Overlaps in_memory;
  // Short enough for a busy machine: a ThreadGroup has a time limit.
  for (const double layer_ms : {20.0, 2.0}) measureSharedMemory(in_memory, Computes::kDevice, layer_ms);
  for (const double layer_ms : {5.0, 1.0}) measureSharedMemory(in_memory, Computes::kHost, layer_ms);
  in_memory.show();
  return 0;
}

}  // namespace
}  // namespace pop::bench

int main() {
  return pop::bench::benchmark();
}
