// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <optional>

#include "bench/launch_hosts/contestants.h"
#include "bench/launch_speed/contestants.h"
#include "bench/launch_speed/figures.h"

namespace pop::bench {
namespace {

const std::string kOwnPrograms = "true and rank", kBetterFloor = "better floor",
                  kFastestPeer = "fastest peer";
const std::string kMpich = "mpich", kOnePerHost = "1 per host", kEightPerHost = "8 per host";
constexpr int kMost = std::numeric_limits<int>::max();

enum class Limits : std::uint8_t {
  kRatio,    // our median / the rival's, at most; over interleaved runs
  kMs,       // our median, at most
  kMsUnder,  // the rival's median - ours, at least
};

struct TimeGoal {
  const std::string& ours;
  const std::string& rival;
  const std::string& job;
  int from, to;  // processes; over hosts: hosts
  double limit;
  Limits limits = Limits::kRatio;
};

const TimeGoal kTimeGoals[] = {
    {kPoprun, kHydra, kOwnPrograms, 1, 8, 0.6},
    {kPoprun, kHydra, kOwnPrograms, 1024, 1024, 0.6},
    // Below, a launcher's fixed costs exceed those of its processes.
    {kPoprun, kBetterFloor, kOwnPrograms, 8, kMost, 1.3},
    {kPoprun, kFastestPeer, kOwnPrograms, 1, kMost, 1},
    // An MPI library's own launcher starts it, too; Open MPI's has more to do than poprun.
    {kPoprun, kHydra, kMpich, 1, kMost, 1},
    {kPoprun, kOpenMpi, kOpenMpi, 2, 2, 25, Limits::kMsUnder},
    {kPoprun, kOpenMpi, kOpenMpi, 3, kMost, 1},
    {kPoprun, kSshLimit, kOnePerHost, 32, 32, 1.2},
    {kPoprun, kFastestPeer, kOnePerHost, 32, 32, 1},
    {kPoprunByService, kPoprunByService, kOnePerHost, 32, 32, 30, Limits::kMs},
    {kPoprunByService, kPoprunByService, kEightPerHost, 32, 32, 130, Limits::kMs},
};

constexpr FigureGoal kFigureGoals[] = {
    {"rate", nullptr, 300, true},
    {"memory, N = 2", nullptr, 8},
    {"memory, N = 128", nullptr, 16},
    {"fence", nullptr, 5},
    {"memory over hosts", "agent", 15},
    {"memory over hosts", "agent service", 15},
    {"silence", "until the host is named", 5.1},  // 5 s of silence, plus the time to report it
};

const TimeFigure* rivalOf(const Figures& figures, const TimeFigure& ours, const std::string& rival) {
  if (rival == kFastestPeer) return figures.fastestPeer(ours);
  if (rival != kBetterFloor) return figures.time(rival, ours.job_program, ours.processes);
  const TimeFigure* const one = figures.time(kFloor, ours.job_program, ours.processes);
  const TimeFigure* const two = figures.time(kFloorOfTwoThreads, ours.job_program, ours.processes);
  if (one == nullptr || two == nullptr) return nullptr;
  return one->wall_ms.median < two->wall_ms.median ? one : two;
}

bool concerns(const TimeGoal& goal, const TimeFigure& ours) {
  const bool is_own = ours.job_program == "true" || ours.job_program == "rank";
  return ours.contestant == goal.ours && ours.wall_ms.count > 0 && ours.processes >= goal.from &&
         ours.processes <= goal.to && (goal.job == kOwnPrograms ? is_own : ours.job_program == goal.job);
}

std::optional<Goal> judgeTime(const Figures& figures, const TimeFigure& ours, const TimeGoal& wanted) {
  const TimeFigure* const rival = concerns(wanted, ours) ? rivalOf(figures, ours, wanted.rival) : nullptr;
  if (rival == nullptr) return std::nullopt;
  const std::string name =
      wanted.rival == kFastestPeer ? wanted.rival + " (" + rival->contestant + ')' : wanted.rival;
  const std::string job = ", " + ours.job_program + ", N = " + std::to_string(ours.processes);
  const bool noisy = ours.runs.mostlyNotQuiet() || rival->runs.mostlyNotQuiet();
  const double our_ms = ours.wall_ms.median, rival_ms = rival->wall_ms.median;
  switch (wanted.limits) {
    case Limits::kRatio:
      return Goal{wanted.ours + " / " + name + job, our_ms / rival_ms, wanted.limit, false, "", noisy};
    case Limits::kMs:
      return Goal{wanted.ours + job, our_ms, wanted.limit, false, "ms", noisy};
    case Limits::kMsUnder:
      return Goal{name + " - " + wanted.ours + job, rival_ms - our_ms, wanted.limit, true, "ms", noisy};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Goal> judge(const Figures& figures) {
  std::vector<Goal> goals;
  for (const TimeFigure& ours : figures.times) {
    for (const TimeGoal& wanted : kTimeGoals)
      if (const std::optional<Goal> goal = judgeTime(figures, ours, wanted)) goals.push_back(*goal);
  }
  for (Goal& goal : judge(figures.others, kPoprun, kFigureGoals)) goals.push_back(std::move(goal));
  return goals;
}

}  // namespace pop::bench
