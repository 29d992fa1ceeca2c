// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/goals.h"

#include "bench/launch_speed/contestants.h"

namespace pop::bench {
namespace {

constexpr double kOfHydra = 0.6;  // for few processes, and for very many
constexpr int kFew = 8, kVeryMany = 1024;
constexpr double kOfFloor = 1.3;
constexpr int kFloorCountsFrom = 8;  // below, a launcher's fixed costs exceed those of its processes
constexpr double kJobsPerSecond = 300;
constexpr double kUnderOpenMpiMs = 25;  // with two processes

struct MemoryLimit {
  int processes;
  double mb;
};
constexpr MemoryLimit kMemoryLimits[] = {{2, 8}, {128, 16}};

// Ratio of medians, poprun's divided by the other's, over interleaved runs.
Goal atMost(double limit, const TimeFigure& ours, const TimeFigure& other, const std::string& other_name) {
  return {
      .text = "poprun / " + other_name + ", " + ours.job_program + ", N = " + std::to_string(ours.processes),
      .value = ours.wall_ms.median / other.wall_ms.median,
      .limit = limit,
      .is_noisy = ours.mostlyNotQuiet() || other.mostlyNotQuiet()};
}

// An MPI library's own launcher starts it, too; Open MPI's has more to do than poprun.
void judgeMpi(const Figures& figures, const TimeFigure& ours, std::vector<Goal>& goals) {
  const std::string& library = ours.job_program;
  const std::string& launcher = library == "mpich" ? kHydra : kOpenMpi;
  const TimeFigure* theirs = figures.time(launcher, library, ours.processes);
  if (theirs == nullptr) return;
  if (launcher == kOpenMpi && ours.processes == 2) {
    goals.push_back({.text = "openmpi - poprun, a program of Open MPI, N = 2",
                     .value = theirs->wall_ms.median - ours.wall_ms.median,
                     .limit = kUnderOpenMpiMs,
                     .at_least = true,
                     .unit = "ms",
                     .is_noisy = ours.mostlyNotQuiet() || theirs->mostlyNotQuiet()});
    return;
  }
  goals.push_back(atMost(1.0, ours, *theirs, launcher));
}

void judgeTimes(const Figures& figures, const TimeFigure& ours, std::vector<Goal>& goals) {
  const auto peer = [&](const std::string& name) {
    return figures.time(name, ours.job_program, ours.processes);
  };
  if (ours.processes <= kFew || ours.processes == kVeryMany) {
    if (const TimeFigure* hydra = peer(kHydra)) goals.push_back(atMost(kOfHydra, ours, *hydra, kHydra));
  }
  if (ours.processes >= kFloorCountsFrom) {
    const TimeFigure* floor = peer(kFloor);
    const TimeFigure* floor2 = peer(kFloorOfTwoThreads);
    if (floor != nullptr && floor2 != nullptr) {
      const TimeFigure& better = floor->wall_ms.median < floor2->wall_ms.median ? *floor : *floor2;
      goals.push_back(atMost(kOfFloor, ours, better, "better floor"));
    }
  }
  const TimeFigure* fastest = nullptr;
  for (const TimeFigure& other : figures.times) {
    if (!other.is_peer || other.job_program != ours.job_program || other.processes != ours.processes ||
        other.wall_ms.count == 0)
      continue;
    if (fastest == nullptr || other.wall_ms.median < fastest->wall_ms.median) fastest = &other;
  }
  if (fastest != nullptr)
    goals.push_back(atMost(1.0, ours, *fastest, "fastest peer (" + fastest->contestant + ')'));
}

// 1 MB = 10^6 bytes.
double megabytes(std::int64_t kib) {
  return static_cast<double>(kib) * 1024 / 1e6;
}

}  // namespace

std::vector<Goal> judge(const Figures& figures) {
  std::vector<Goal> goals;
  for (const TimeFigure& ours : figures.times) {
    if (ours.contestant != kPoprun || ours.wall_ms.count == 0) continue;
    const bool is_mpi = ours.job_program == "mpich" || ours.job_program == "openmpi";
    (is_mpi ? judgeMpi : judgeTimes)(figures, ours, goals);
  }
  for (const RateFigure& rate : figures.rates) {
    if (rate.contestant != kPoprun) continue;
    goals.push_back({.text = "poprun: jobs of 2 processes, one after another",
                     .value = rate.jobs_per_s,
                     .limit = kJobsPerSecond,
                     .at_least = true,
                     .unit = "jobs/s",
                     .is_noisy = rate.mostly_not_quiet});
  }
  for (const MemoryFigure& memory : figures.memory) {
    for (const MemoryLimit& limit : kMemoryLimits) {
      if (memory.contestant != kPoprun || memory.processes != limit.processes) continue;
      const std::string of = ", N = " + std::to_string(limit.processes);
      goals.push_back({"poprun: peak memory, largest process" + of, megabytes(memory.largest_kib), limit.mb,
                       false, "MB"});
      goals.push_back({"poprun: peak memory, sum with the keeper" + of, megabytes(memory.sum_kib), limit.mb,
                       false, "MB"});
    }
  }
  return goals;
}

}  // namespace pop::bench
