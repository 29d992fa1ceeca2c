// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/measure.h"

#include <charconv>
#include <filesystem>
#include <set>

#include "bench/harness/command.h"
#include "bench/harness/machine.h"
#include "bench/harness/peak_memory.h"
#include "bench/harness/quiet_gate.h"

namespace pop::bench {
namespace {

constexpr int kProcessesOfRate = 2;
constexpr int kTimeLimitFactorUnderPtrace = 4;
constexpr int kProcessesOfMemory[] = {2, 128};

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

struct Job {
  std::string program_name;
  std::string program;
  int processes;
};

// The last line: that is where most programs say what went wrong.
std::string lastLineOf(std::string output) {
  while (!output.empty() && output.back() == '\n') output.pop_back();
  const std::size_t line_feed = output.rfind('\n');
  return output.substr(line_feed == std::string::npos ? 0 : line_feed + 1).substr(0, 200);
}

// Empty for a run that counts.
std::string failureOf(const Result<RunResult>& run, const Job& job) {
  if (!run.ok()) return run.status().message();
  if (!run.value().succeeded())
    return inWords(run.value()) + ", output ends: " + lastLineOf(run.value().output);
  if (job.program_name == "rank" && !hasEveryRank(run.value().output, job.processes))
    return "the output of some ranks is missing";
  return {};
}

class Measurement {
 public:
  Measurement(const std::vector<Contestant>& contestants, const JobPrograms& programs,
              const LaunchOptions& options, const Hooks& hooks)
      : contestants_(contestants),
        programs_(programs),
        options_(options),
        hooks_(hooks),
        gate_(options.quiet_patience) {}

  Figures take() {
    if (options_.measure("time")) {
      for (const int processes : options_.process_counts) {
        takeTimes({"true", programs_.true_path, processes});
        takeTimes({"rank", programs_.rank_path, processes});
      }
    }
    if (options_.measure("rate")) takeRates();
    if (options_.measure("memory")) {
      for (const int processes : kProcessesOfMemory) takeMemory({"true", programs_.true_path, processes});
    }
    return std::move(figures_);
  }

 private:
  Result<RunResult> runOnce(const Contestant& contestant, const Job& job) const {
    return run({.argv = contestant.commandLine(job.processes, job.program),
                .time_limit = options_.timeLimitOf(job.processes)});
  }

  void takeTimes(const Job& job) {
    std::vector<TimeFigure> figures;
    for (const Contestant& contestant : contestants_)
      figures.push_back({contestant.name, contestant.is_peer, job.program_name, job.processes});
    std::vector<std::vector<double>> wall_ms(contestants_.size());
    const int repeats = options_.repeatsOf(job.processes);
    for (int repeat = -1; repeat < repeats; ++repeat) {  // the first round warms up
      hooks_.progress("time of " + job.program_name + ", N = " + std::to_string(job.processes) + ", round " +
                      std::to_string(repeat + 1) + " of " + std::to_string(repeats));
      for (std::size_t i = 0; i < contestants_.size(); ++i) {
        if (repeat < 0)
          static_cast<void>(runOnce(contestants_[i], job));
        else
          takeTime(contestants_[i], job, figures[i], wall_ms[i]);
      }
    }
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      figures[i].wall_ms = summarize(wall_ms[i]);
      figures_.times.push_back(std::move(figures[i]));
    }
  }

  void takeTime(const Contestant& contestant, const Job& job, TimeFigure& figure,
                std::vector<double>& wall_ms) const {
    const QuietGate::Passed gate = gate_.wait();
    const CpuTimes before = readCpuTimes();
    const Result<RunResult> run = runOnce(contestant, job);
    const CpuTimes during = readCpuTimes().since(before);
    const std::string failure = failureOf(run, job);
    const bool hung = run.ok() && run.value().end == End::kTimedOut;
    if (failure.empty()) {
      wall_ms.push_back(run.value().wall_s * 1e3);
      if (!gate.quiet) ++figure.not_quiet;
    } else {
      ++(hung ? figure.hung : figure.failed);
      if (figure.failure.empty()) figure.failure = failure;
    }
    JsonLine line("run");
    line.add("contestant", contestant.name).add("program", job.program_name).add("n", job.processes);
    line.add("end", failure.empty() ? "ok" : hung ? "hung" : "failed");
    line.add("wall_ms", run.ok() ? run.value().wall_s * 1e3 : 0)
        .add("cpu_ms", run.ok() ? run.value().cpu_s * 1e3 : 0);
    line.add("quiet", gate.quiet).add("idle_before", gate.idle_fraction);
    line.add("idle_ticks", during.idle).add("busy_ticks", during.busy).add("steal_ticks", during.steal);
    if (!failure.empty()) line.add("failure", failure);
    hooks_.record(line);
  }

  // Rate of a block: (jobs that ended well) / (sum of their wall times). No gate between jobs: a script that
  // starts one job after another has none either.
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

  // Half a second is enough of a slow launcher.
  double rateOfBlock(const Contestant& contestant, const Job& job, RateFigure& figure) const {
    constexpr double kEnoughSeconds = 0.5;
    double wall_s = 0;
    int jobs = 0;
    for (int i = 0; i < options_.jobs_per_rate && wall_s < kEnoughSeconds; ++i) {
      const Result<RunResult> run = runOnce(contestant, job);
      if (!failureOf(run, job).empty()) {
        ++figure.failed;
        continue;
      }
      wall_s += run.value().wall_s;
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
  return failureOf(run({.argv = contestant.commandLine(job.processes, job.program)}), job);
}

Figures measureAll(const std::vector<Contestant>& contestants, const JobPrograms& programs,
                   const LaunchOptions& options, const Hooks& hooks) {
  return Measurement(contestants, programs, options, hooks).take();
}

}  // namespace pop::bench
