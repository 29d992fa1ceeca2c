// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "bench/collectives_speed/figures.h"
#include "bench/collectives_speed/goal_tables.h"

namespace pop::bench::collectives {
namespace {

constexpr std::size_t kBulk = k16M;  // from here on a broadcast counts as one of weights

bool isOf(Family family, Rival rival) {
  switch (rival) {
    case Rival::kMpi:
      return family == Family::kOpenMpi || family == Family::kMpich;
    case Rival::kOpenMpi:
      return family == Family::kOpenMpi;
    case Rival::kMpich:
      return family == Family::kMpich;
    case Rival::kGloo:
      return family == Family::kGloo;
    case Rival::kOpenMpiTcp:
      return family == Family::kOpenMpiTcp;
    case Rival::kOpenMpiHosts:
      return family == Family::kOpenMpiHosts;
  }
  return false;
}

bool isIn(const Cell& cell, const RatioGoal& goal) {
  return cell.operation == goal.operation && cell.type == popdist::Type::kFloat &&
         (goal.ranks == kAnyRanks || cell.ranks == goal.ranks) && cell.bytes >= goal.from &&
         cell.bytes <= goal.to;
}

// Ratio of medians, the rival's divided by ours, over interleaved runs.
void judgeRatios(const Figures& figures, const TimeFigure& ours, std::vector<Goal>& goals) {
  for (const RatioGoal& wanted : kRatioGoals) {
    if (wanted.ours != ours.contestant || !isIn(ours.cell, wanted)) continue;
    const TimeFigure* rival = figures.fastest(
        ours.cell, [&](const TimeFigure& figure) { return isOf(figure.family, wanted.rival); });
    if (rival == nullptr) continue;
    goals.push_back({inWords(ours.cell) + ": " + rival->contestant + " / " + ours.contestant,
                     rival->us.median / ours.us.median, wanted.at_least, true, "",
                     ours.mostlyNotQuiet() || rival->mostlyNotQuiet()});
  }
}

std::optional<double> yardstickOf(const CellLimits& limits, const std::string& ours) {
  if (ours == kPrivate) return limits.privateMemoryUs();
  return ours == kShared ? limits.sharedMemoryUs() : limits.tcpUs();
}

void judgeYardsticks(const CellLimits& limits, const TimeFigure& ours, std::vector<Goal>& goals) {
  if (ours.cell.type != popdist::Type::kFloat || ours.cell.operation != kAllReduce) return;
  for (const YardstickGoal& wanted : kYardstickGoals) {
    const bool is_in = ours.cell.ranks >= wanted.from_ranks && ours.cell.ranks <= wanted.to_ranks;
    const std::optional<double> yardstick = yardstickOf(limits, wanted.ours);
    if (wanted.ours != ours.contestant || !is_in || !yardstick) continue;
    goals.push_back({inWords(ours.cell) + ": yardstick / " + ours.contestant, *yardstick / ours.us.median,
                     wanted.at_least, true, "", ours.mostlyNotQuiet(), ours.us.median < *yardstick});
  }
  const bool in_memory = ours.contestant == kPrivate || ours.contestant == kShared;
  if (const std::optional<double> yardstick = limits.smallUs(); yardstick && in_memory) {
    goals.push_back({inWords(ours.cell) + ": " + ours.contestant + " / yardstick",
                     ours.us.median / *yardstick, kOfSmallYardstick, false, "", ours.mostlyNotQuiet(),
                     ours.us.median < *yardstick});
  }
}

// Compared at the same number of bytes.
void judgeShortFloats(const Figures& figures, const TimeFigure& ours, std::vector<Goal>& goals) {
  if (ours.cell.type == popdist::Type::kFloat || ours.cell.bytes <= k1M) return;
  Cell of_float = ours.cell;
  of_float.type = popdist::Type::kFloat;
  const TimeFigure* floats = figures.time(of_float, ours.contestant);
  if (floats == nullptr) return;
  goals.push_back({inWords(ours.cell) + ": " + ours.contestant + " / float",
                   ours.us.median / floats->us.median, kShortFloatsOfFloat, false, "",
                   ours.mostlyNotQuiet() || floats->mostlyNotQuiet()});
}

// Bytes per receiver divided by time; summed over all receivers from 4 ranks on.
void judgeBroadcast(const CellLimits* limits, const TimeFigure& ours, std::vector<Goal>& goals) {
  if (ours.cell.operation != kBroadcast || ours.cell.bytes < kBulk) return;
  const double gb_s = static_cast<double>(ours.cell.bytes) / ours.us.median * 1e-3;
  Goal goal{.text = inWords(ours.cell) + ": " + ours.contestant,
            .at_least = true,
            .is_noisy = ours.mostlyNotQuiet()};
  if (ours.contestant == kShared && ours.cell.ranks == 2) {
    goal.value = gb_s;
    goal.limit = kBroadcastGbS;
    goal.unit = "GB/s";
  } else if (ours.contestant == kShared && ours.cell.ranks >= 4) {
    goal.value = gb_s * (ours.cell.ranks - 1);
    goal.limit = kBroadcastSumGbS;
    goal.unit = "GB/s of all receivers";
  } else if (((ours.contestant == kTcp && ours.cell.ranks == 2) || ours.contestant == kHosts) &&
             limits != nullptr && limits->tcp_stream) {  // each host is to receive it once
    goal.text += " / raw stream";
    goal.value = gb_s / *limits->tcp_stream;
    goal.beyond_yardstick = goal.value > 1;
    goal.limit = kTcpBroadcastOfStream;
  } else {
    return;
  }
  goals.push_back(std::move(goal));
}

}  // namespace

std::vector<Goal> judge(const Figures& figures) {
  std::vector<Goal> goals;
  for (const TimeFigure& ours : figures.times) {
    if (ours.family != Family::kOurs || !ours.measured()) continue;
    const CellLimits* limits = figures.limitsOf(ours.cell);
    judgeRatios(figures, ours, goals);
    if (limits != nullptr) judgeYardsticks(*limits, ours, goals);
    judgeShortFloats(figures, ours, goals);
    judgeBroadcast(limits, ours, goals);
  }
  return goals;
}

}  // namespace pop::bench::collectives
