// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/measure.h"

#include <filesystem>
#include <functional>

#include "bench/harness/command.h"
#include "bench/harness/peak_memory.h"
#include "bench/harness/quiet_gate.h"

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
              const LaunchOptions& options, const Hooks& hooks)
      : contestants_(contestants),
        programs_(programs),
        options_(options),
        hooks_(hooks),
        gate_(options.quiet_timeout) {}

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
      for (const int processes : kProcessesOfMemory) takeMemory({"true", programs_.true_path, processes});
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
    const Turns turns{job.program_name, job.processes, options_.repeatsOf(job.processes)};
    for (TimeFigure& figure : takeTimes(turns, entries, gate_, hooks_))
      figures_.times.push_back(std::move(figure));
  }

  // Rate of a block: successful jobs divided by the sum of their wall times. No gate between jobs: a script
  // that starts one job after another has none either.
  void takeRates() {
    const Job job{"true", programs_.true_path, kProcessesOfRate};
    std::vector<RateFigure> figures;
    for (const Contestant& contestant : contestants_) figures.push_back({contestant.name});
    std::vector<std::vector<double>> rates(contestants_.size());
    std::vector<int> not_quiet(contestants_.size());
    for (int block = 0; block < options_.repeats; ++block) {
      hooks_.progress("jobs per second, round " + std::to_string(block + 1) + " of " +
                      std::to_string(options_.repeats));
      for (std::size_t i = 0; i < contestants_.size(); ++i) {
        const QuietGate::Passed gate = gate_.wait();
        if (!gate.quiet) ++not_quiet[i];
        const double rate = rateOfBlock(contestants_[i], job, figures[i]);
        if (rate > 0) rates[i].push_back(rate);
        hooks_.record(JsonLine("block")
                          .add("contestant", contestants_[i].name)
                          .add("jobs_per_s", rate)
                          .add("quiet", gate.quiet));
      }
    }
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      figures[i].jobs_per_s = summarize(rates[i]).median;
      figures[i].mostly_not_quiet = not_quiet[i] * 2 > options_.repeats;
      figures_.rates.push_back(std::move(figures[i]));
    }
  }

  // Half a second is enough for a slow launcher.
  double rateOfBlock(const Contestant& contestant, const Job& job, RateFigure& figure) const {
    constexpr double kEnoughSeconds = 0.5;
    double wall_s = 0;
    int jobs = 0;
    for (int i = 0; i < options_.jobs_per_rate && wall_s < kEnoughSeconds; ++i) {
      const Result<RunResult> result = run(commandOf(contestant, job));
      if (!failureOf(result, job.ranks()).empty()) {
        ++figure.failed;
        continue;
      }
      wall_s += result.value().wall_s;
      ++jobs;
    }
    return jobs > 0 ? jobs / wall_s : 0;
  }

  void takeMemory(const Job& job) {
    const std::string job_executable = std::filesystem::canonical(job.program);
    for (const Contestant& contestant : contestants_) {
      hooks_.progress("memory of " + contestant.name + ", N = " + std::to_string(job.processes));
      const Result<std::vector<ProcessPeak>> peaks =
          tracePeakMemory({.argv = contestant.commandLine(job.processes, job.program),
                           .time_limit = options_.timeLimitOf(job.processes) * kTimeLimitFactorUnderPtrace});
      if (!peaks.ok()) {
        hooks_.progress("memory of " + contestant.name + ": " + peaks.status().message() + '\n');
        continue;
      }
      MemoryFigure figure{contestant.name, job.processes};
      for (const ProcessPeak& peak : peaks.value()) {
        if (peak.executable == job_executable) continue;
        figure.largest_kib = std::max(figure.largest_kib, peak.peak_kib);
        figure.sum_kib += peak.peak_kib;
        figure.by_process += (figure.by_process.empty() ? "" : ", ") + peak.name + ' ' +
                             std::to_string(peak.peak_kib) + " KiB";
      }
      figures_.memory.push_back(std::move(figure));
    }
  }

  const std::vector<Contestant>& contestants_;
  const JobPrograms& programs_;
  const LaunchOptions& options_;
  const Hooks& hooks_;
  QuietGate gate_;
  Figures figures_;
};

}  // namespace

std::string whyUnusable(const Contestant& contestant, const JobPrograms& programs) {
  if (contestant.program.empty()) return "not installed";
  const Job job{"rank", programs.rank_path, 1};
  return failureOf(run({.argv = contestant.commandLine(job.processes, job.program)}), job.ranks());
}

Figures measureAll(const std::vector<Contestant>& contestants, const JobPrograms& programs,
                   const LaunchOptions& options, const Hooks& hooks) {
  return Measurement(contestants, programs, options, hooks).take();
}

}  // namespace pop::bench
