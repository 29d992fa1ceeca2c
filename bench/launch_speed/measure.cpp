// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/measure.h"

#include <filesystem>
#include <functional>

#include "bench/harness/peak_memory.h"
#include "bench/harness/session.h"
#include "bench/launch_speed/turns.h"

namespace pop::bench {
namespace {

constexpr int kProcessesOfRate = 2;
constexpr int kTimeLimitFactorUnderPtrace = 4;
constexpr int kProcessesOfMemory[] = {2, 128};
constexpr int kProcessesOfMpi[] = {2, 32};

struct Job {
  std::string program_name;
  std::string program;
  int processes;

  int ranks() const { return program_name == "true" ? 0 : processes; }
};

class Measurement {
 public:
  Measurement(const std::vector<Contestant>& contestants, const JobPrograms& programs,
              const LaunchOptions& options)
      : contestants_(contestants), programs_(programs), options_(options) {}

  Figures take() {
    if (options_.measure("time")) {
      for (const int processes : options_.process_counts) {
        takeJob({"true", programs_.true_path, processes});
        takeJob({"rank", programs_.rank_path, processes});
      }
    }
    if (options_.measure("mpi")) takeMpi();
    if (options_.measure("rate")) takeRates();
    if (options_.measure("memory")) {
      for (const int processes : kProcessesOfMemory)
        for (const Contestant& contestant : contestants_)
          takeMemory(contestant, {"true", programs_.true_path, processes});
    }
    return std::move(figures_);
  }

 private:
  Command commandOf(const Contestant& contestant, const Job& job) const {
    return {.argv = contestant.commandLine(job.processes, job.program),
            .time_limit = options_.timeLimitOf(job.processes)};
  }

  void takeMpi() {
    for (const MpiProgram& program : programs_.mpi) {
      const auto starts = [&program](const Contestant& each) {
        return each.name == kPoprun || each.name == program.own_launcher;
      };
      for (const int processes : kProcessesOfMpi) takeJob({program.name, program.path, processes}, starts);
    }
  }

  void takeJob(const Job& job, const std::function<bool(const Contestant&)>& starts = nullptr) {
    std::vector<Entry> entries;
    for (const Contestant& contestant : contestants_)
      if (!starts || starts(contestant))
        entries.push_back({contestant.name, contestant.is_peer, commandOf(contestant, job), job.ranks()});
    takeTimes({job.program_name, job.processes, options_.repeatsOf(job.processes), options_.quiet_timeout},
              entries, figures_.times);
  }

  // No gate between jobs: a script that starts one job after another has none either.
  void takeRates() {
    std::vector<std::vector<double>> rates(contestants_.size());
    std::vector<int> not_quiet(contestants_.size());
    for (int block = 1; block <= options_.repeats; ++block) {
      showProgress("jobs per second, round " + std::to_string(block) + " of " +
                   std::to_string(options_.repeats));
      for (std::size_t i = 0; i < contestants_.size(); ++i) {
        const bool quiet = awaitQuiet(options_.quiet_timeout).quiet;
        if (!quiet) ++not_quiet[i];
        const double rate = rateOfBlock(contestants_[i]);
        if (rate > 0) rates[i].push_back(rate);
        record(JsonLine("block")
                   .add("contestant", contestants_[i].name)
                   .add("jobs_per_s", rate)
                   .add("quiet", quiet));
      }
    }
    for (std::size_t i = 0; i < contestants_.size(); ++i)
      figures_.others.push_back({"rate", contestants_[i].name, "jobs of 2 processes, one after another",
                                 "jobs/s", summarize(rates[i]), not_quiet[i] * 2 > options_.repeats});
  }

  // Successful jobs divided by the sum of their wall times. Half a second is enough for a slow launcher.
  double rateOfBlock(const Contestant& contestant) {
    constexpr double kEnoughSeconds = 0.5;
    double wall_s = 0;
    int jobs = 0;
    for (int i = 0; i < options_.jobs_per_rate && wall_s < kEnoughSeconds; ++i) {
      const auto result = run(commandOf(contestant, {"true", programs_.true_path, kProcessesOfRate}));
      const std::string failure = failureOf(result);
      if (!failure.empty()) {
        figures_.failures.push_back(contestant.name + ", rate: " + failure);
        continue;
      }
      wall_s += result.value().wall_s;
      ++jobs;
    }
    return jobs > 0 ? jobs / wall_s : 0;
  }

  // The peak memory of all processes but the job's own.
  void takeMemory(const Contestant& contestant, const Job& job) {
    const std::string measure = "memory, N = " + std::to_string(job.processes);
    showProgress(measure + ", " + contestant.name);
    Command command = commandOf(contestant, job);
    command.time_limit *= kTimeLimitFactorUnderPtrace;
    const Result<std::vector<ProcessPeak>> peaks = tracePeakMemory(command);
    if (!peaks.ok()) {
      figures_.failures.push_back(contestant.name + ", " + measure + ": " + peaks.status().message());
      return;
    }
    std::int64_t largest_kib = 0, sum_kib = 0;
    std::string by_process;
    for (const ProcessPeak& peak : peaks.value()) {
      if (peak.executable == std::filesystem::canonical(job.program)) continue;
      largest_kib = std::max(largest_kib, peak.peak_kib);
      sum_kib += peak.peak_kib;
      by_process +=
          (by_process.empty() ? "" : ", ") + peak.name + ' ' + std::to_string(peak.peak_kib) + " KiB";
    }
    record(JsonLine("memory")
               .add("contestant", contestant.name)
               .add("n", job.processes)
               .add("largest_kib", largest_kib)
               .add("sum_kib", sum_kib)
               .add("by_process", by_process));
    for (const auto& [what, kib] : {std::pair("largest process", largest_kib), {"all processes", sum_kib}})
      figures_.others.push_back({measure, contestant.name, what, "MB", summarize({megabytes(kib)})});
  }

  const std::vector<Contestant>& contestants_;
  const JobPrograms& programs_;
  const LaunchOptions& options_;
  Figures figures_;
};

}  // namespace

std::string whyUnusable(const Contestant& contestant, const JobPrograms& programs) {
  if (contestant.program.empty()) return "not installed";
  return failureOf(run({.argv = contestant.commandLine(1, programs.rank_path)}), 1);
}

Figures measureAll(const std::vector<Contestant>& contestants, const JobPrograms& programs,
                   const LaunchOptions& options) {
  return Measurement(contestants, programs, options).take();
}

}  // namespace pop::bench
