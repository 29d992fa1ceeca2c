// SPDX-License-Identifier: Apache-2.0
#include "bench/training_speed/epochs.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "bench/harness/session.h"
#include "bench/harness/table.h"
#include "bench/training_speed/contestants.h"

namespace pop::bench {
namespace {

constexpr double kLastToFirst = 0.95;

const Trainings* find(const std::vector<Trainings>& all, const std::string& contestant) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Trainings& each) { return each.contestant == contestant; });
  return found == all.end() ? nullptr : &*found;
}

std::string cellOf(const Summary& summary, double unit, int digits) {
  if (summary.count == 0) return "-";
  return fixed(summary.median / unit, digits) + " (" + fixed(summary.min / unit, digits) + "–" +
         fixed(summary.max / unit, digits) + ")";
}

void addGoals(const Model& model, const std::vector<Trainings>& all, int epochs, std::vector<Goal>& goals) {
  const Trainings* const ours = find(all, std::string(kExample) + model.suffix);
  const Trainings* const peer = find(all, std::string(kDdp) + model.suffix);
  if (ours == nullptr) return;
  for (int epoch = 0; peer != nullptr && epoch < epochs; ++epoch) {
    const Summary ratio = ratioOf(*ours, *peer, epoch);
    if (ratio.count == 0) continue;
    goals.push_back(
        {"samples/s, " + ours->contestant + " / " + peer->contestant + ", epoch " + std::to_string(epoch + 1),
         ratio.median, model.times_the_peer, true, "", ours->mostlyDisturbed() || peer->mostlyDisturbed()});
  }
  const Summary steady = lastToFirst(*ours);
  if (steady.count > 0)
    goals.push_back({"samples/s of " + ours->contestant + ", last epoch / first", steady.median, kLastToFirst,
                     true, "", ours->mostlyDisturbed()});
}

/// The reference of `contestant`, if it was measured.
const Trainings* oursIn(const std::vector<Trainings>& all, const Trainings& contestant) {
  const std::string ours = oursFor(contestant.contestant);
  return ours.empty() ? nullptr : find(all, ours);
}

}  // namespace

Result<std::vector<Epoch>> parseEpochs(const std::string& output, int count) {
  std::vector<Epoch> epochs;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("epoch ");
    if (at == std::string::npos) continue;
    int number = 0;
    Epoch epoch;
    const int found =
        std::sscanf(line.c_str() + at, "epoch %d/%*d: loss %*f, test accuracy %lf %%, %lf samples/s", &number,
                    &epoch.accuracy, &epoch.samples_per_s);
    if (found == 3 && number == static_cast<int>(epochs.size()) + 1) epochs.push_back(epoch);
  }
  if (static_cast<int>(epochs.size()) != count)
    return Status(Code::kDataLoss, "the output has " + std::to_string(epochs.size()) + " of " +
                                       std::to_string(count) + " epochs");
  return epochs;
}

Summary speedOf(const Trainings& trainings, int epoch) {
  std::vector<double> speeds;
  for (const std::vector<Epoch>& round : trainings.rounds) {
    if (!round.empty()) speeds.push_back(round[static_cast<std::size_t>(epoch)].samples_per_s);
  }
  return summarize(speeds);
}

Summary ratioOf(const Trainings& ours, const Trainings& theirs, int epoch) {
  const auto at = static_cast<std::size_t>(epoch);
  std::vector<double> ratios;
  for (std::size_t round = 0; round < std::min(ours.rounds.size(), theirs.rounds.size()); ++round) {
    if (ours.rounds[round].empty() || theirs.rounds[round].empty()) continue;
    ratios.push_back(ours.rounds[round][at].samples_per_s / theirs.rounds[round][at].samples_per_s);
  }
  return summarize(ratios);
}

Summary lastToFirst(const Trainings& trainings) {
  std::vector<double> ratios;
  for (const std::vector<Epoch>& round : trainings.rounds) {
    if (!round.empty()) ratios.push_back(round.back().samples_per_s / round.front().samples_per_s);
  }
  return summarize(ratios);
}

std::string oursFor(const std::string& contestant) {
  const std::string ours = kExample;
  for (const Model& model : kModels) {
    if (contestant == ours + model.suffix) return {};
    if (contestant == std::string(kDdp) + model.suffix) return ours + model.suffix;
  }
  return ours;
}

std::vector<Goal> judge(const std::vector<Trainings>& all, int epochs) {
  std::vector<Goal> goals;
  for (const Model& model : kModels) addGoals(model, all, epochs, goals);
  return goals;
}

void report(const std::vector<Trainings>& all, int epochs) {
  const auto recordFor = [](JsonLine& line, const Summary& summary) {
    record(line.add("runs", summary.count).add(summary));
  };
  for (const Trainings& each : all) {
    const Trainings* const ours = oursIn(all, each);
    for (int epoch = 0; epoch < epochs; ++epoch) {
      JsonLine speed("samples_per_s");
      recordFor(speed.add("contestant", each.contestant).add("epoch", epoch + 1), speedOf(each, epoch));
      if (ours == nullptr) continue;
      JsonLine ratio("ratio");
      ratio.add("ours", ours->contestant).add("theirs", each.contestant).add("epoch", epoch + 1);
      recordFor(ratio, ratioOf(*ours, each, epoch));
    }
    JsonLine steady("last_to_first");
    recordFor(steady.add("contestant", each.contestant), lastToFirst(each));
  }
  report(inWords(all, epochs), {}, judge(all, epochs));
}

std::string inWords(const std::vector<Trainings>& all, int epochs) {
  std::vector<std::string> headings{"epoch"};
  for (const Trainings& each : all) headings.push_back((each.mostlyDisturbed() ? "~" : "") + each.contestant);
  for (const Trainings& each : all) {
    if (const Trainings* const ours = oursIn(all, each))
      headings.push_back(ours->contestant + " / " + each.contestant);
  }
  Table table(headings);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::vector<std::string> cells{std::to_string(epoch + 1)};
    for (const Trainings& each : all) cells.push_back(cellOf(speedOf(each, epoch), 1e3, 0));
    for (const Trainings& each : all) {
      if (const Trainings* const ours = oursIn(all, each))
        cells.push_back(cellOf(ratioOf(*ours, each, epoch), 1, 1));
    }
    table.addRow(std::move(cells));
  }
  return "Thousand samples/s, and ratios of the same round: median (least–most) of the rounds\n\n" +
         table.text() + '\n';
}

}  // namespace pop::bench
