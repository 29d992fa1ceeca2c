// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_hosts/measure.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <sstream>
#include <string_view>

#include "bench/harness/clock.h"
#include "bench/harness/peak_memory.h"
#include "bench/harness/session.h"
#include "bench/launch_speed/contestants.h"
#include "bench/launch_speed/turns.h"

namespace pop::bench {
namespace {

constexpr int kCostCounts[] = {8, 16, 32};
constexpr int kFences = 200;
constexpr int kInstancesOfFence = 4;  // on each host
constexpr int kHostsOfSilence = 3;
constexpr int kCuts = 3;
// popdist-agent-service, truncated as the kernel truncates process names.
constexpr std::string_view kServiceName = "popdist-agent-s";

std::size_t countOf(const std::string& text, std::string_view word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

Entry entryOf(const HostContestant& contestant, const HostRig& rig, const HostJob& job,
              const LaunchOptions& options) {
  Entry entry{contestant.name, contestant.is_peer,
              Command{.argv = contestant.command(rig, job, contestant.exchange),
                      .time_limit = options.timeLimitOf(job.processes())},
              contestant.starts_ranks ? job.processes() : 0};
  if (contestant.by_daemons) entry.get_ready = [&rig] { rig.daemons().waitForSpares(); };
  return entry;
}

/// VmHWM at the end of a job, while all its processes still exist.
struct Peaks {
  std::int64_t agent_kib = 0;  ///< the largest one of a job, or that waits for one
  std::int64_t keeper_kib = 0;
  std::int64_t controller_kib = 0;
  std::int64_t service_kib = 0;  ///< the largest one since its start; 0: jobs over SSH use none
};

class HostMeasurement {
 public:
  HostMeasurement(HostRig& rig, const std::vector<HostContestant>& contestants, const LaunchOptions& options)
      : rig_(rig), contestants_(contestants), options_(options) {}

  Figures take() {
    if (options_.measure("time")) {
      for (const int per_host : options_.per_host) {
        for (const int hosts : options_.host_counts) takeTimesOf({hosts, per_host});
      }
    }
    if (options_.measure("cost")) takeCosts();
    if (options_.measure("fence") || options_.measure("memory")) {
      for (const HostContestant& contestant : contestants_) {
        if (contestant.running != nullptr) takeFences(contestant);
      }
    }
    if (options_.measure("silence")) takeSilence();
    return std::move(figures_);
  }

 private:
  void takeTimesOf(const HostJob& job) {
    std::vector<Entry> entries;
    for (const HostContestant& contestant : contestants_) {
      if (contestant.can(job)) entries.push_back(entryOf(contestant, rig_, job, options_));
    }
    takeTimes(turnsOf(std::to_string(job.per_host) + " per host", job.hosts), entries, figures_.times);
  }

  Turns turnsOf(const std::string& job, int hosts) const {
    return {job, hosts, options_.repeatsOnHosts(hosts), options_.quiet_timeout};
  }

  void addFigure(const char* measure, const std::string& contestant, const std::string& what,
                 const char* unit, const std::vector<double>& values, bool is_noisy = false) {
    figures_.others.push_back({measure, contestant, what, unit, summarize(values), is_noisy});
  }

  // One process on each host.
  void takeCosts() {
    std::vector<TimeFigure> taken;
    std::vector<std::pair<int, double>> measured;
    for (const int hosts : kCostCounts) {
      if (hosts > rig_.hosts().count()) continue;
      const HostContestant poprun = chooseHostContestants({kPoprun}).front();
      takeTimes(turnsOf("cost of the controller", hosts), {entryOf(poprun, rig_, {.hosts = hosts}, options_)},
                taken);
      const Summary& cpu_ms = taken.back().cpu_ms;
      if (cpu_ms.count > 0) measured.emplace_back(hosts, cpu_ms.median);
      figures_.others.push_back(
          {"CPU time of poprun", kPoprun, std::to_string(hosts) + " hosts", "ms", cpu_ms});
    }
    const std::optional<ControllerCost> cost = controllerCost(measured);
    if (!cost) return;
    addFigure("CPU time of poprun", kPoprun, "fixed", "ms", {cost->fixed_ms});
    addFigure("CPU time of poprun", kPoprun, "for each host", "ms", {cost->per_host_ms});
    addFigure("CPU time of poprun", kPoprun, "so for 1000 hosts", "s",
              {(cost->fixed_ms + 1000 * cost->per_host_ms) / 1e3});
  }

  // One job for both figures: its instances print the times of their fences, and then run on while the
  // launchers' memory is read.
  void takeFences(const HostContestant& contestant) {
    const HostJob job{rig_.hosts().count(), kInstancesOfFence};
    const std::string fence = std::to_string(job.processes()) + " instances on " + std::to_string(job.hosts) +
                              (job.hosts == 1 ? " host" : " hosts");
    showProgress("fences of " + fence + ", " + contestant.name);
    const bool quiet = awaitQuiet(options_.quiet_timeout).quiet;
    Peaks peaks;
    Command command{
        .argv = contestant.running(rig_, job, {rig_.program("bench_launch_fence"), std::to_string(kFences)}),
        .time_limit = options_.timeLimitOf(job.processes())};
    command.watch = [&](const std::string& output, pid_t pid) {
      if (countOf(output, "held") < static_cast<std::size_t>(job.processes()) || peaks.controller_kib > 0)
        return;
      takePeaks(pid, contestant.by_daemons, peaks);
      ::kill(pid, SIGTERM);
    };
    const Result<RunResult> result = run(command);
    if (!result.ok() || peaks.controller_kib == 0) {
      figures_.failures.push_back(
          contestant.name + ", fence: " + (result.ok() ? result.value().output : result.status().message()));
      return;
    }
    addFigure("fence", contestant.name, fence, "ms", slowestOf(result.value().output), !quiet);
    for (const auto& [what, kib] : {std::pair("agent", peaks.agent_kib),
                                    {"keeper", peaks.keeper_kib},
                                    {"controller", peaks.controller_kib},
                                    {"agent service", peaks.service_kib}})
      if (kib > 0) addFigure("memory over hosts", contestant.name, what, "MB", {megabytes(kib)});
  }

  // Services run on all hosts, also while a job comes over SSH.
  void takePeaks(pid_t controller, bool by_service, Peaks& peaks) {
    if (const std::optional<ProcessPeak> peak = peakMemoryOf(controller))
      peaks.controller_kib = peak->peak_kib;
    for (int host = 0; host < rig_.hosts().count(); ++host) {
      for (const pid_t pid : rig_.hosts().processesOn(host)) {
        const std::optional<ProcessPeak> peak = peakMemoryOf(pid);
        if (!peak) continue;
        if (peak->name == "popdist-agent") peaks.agent_kib = std::max(peaks.agent_kib, peak->peak_kib);
        if (peak->name == kServiceName && by_service)
          peaks.service_kib = std::max(peaks.service_kib, peak->peak_kib);
        if (peak->name == "pop-keeper") peaks.keeper_kib = std::max(peaks.keeper_kib, peak->peak_kib);
      }
    }
  }

  // The slowest instance of each fence, in ms. Lines are "[3] fence 7 812.5".
  static std::vector<double> slowestOf(const std::string& output) {
    std::vector<double> slowest(kFences, 0);
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t at = line.find("fence ");
      std::istringstream words(at == std::string::npos ? "" : line.substr(at + 6));
      std::size_t fence = 0;
      double us = 0;
      if (words >> fence >> us && fence < slowest.size()) slowest[fence] = std::max(slowest[fence], us / 1e3);
    }
    return slowest;
  }

  void takeSilence() {
    const HostJob job{std::min(kHostsOfSilence, rig_.hosts().count()), 1};
    std::vector<double> noticed_s;
    std::vector<double> ended_s;
    for (int cut = 0; cut < kCuts; ++cut) {
      showProgress("a host is cut off, " + std::to_string(cut + 1) + " of " + std::to_string(kCuts));
      takeCut(job, noticed_s, ended_s);
    }
    addFigure("silence", kPoprun, "until the host is named", "s", noticed_s);
    addFigure("silence", kPoprun, "until the job has ended", "s", ended_s);
  }

  void takeCut(const HostJob& job, std::vector<double>& noticed_s, std::vector<double>& ended_s) {
    const int victim = job.hosts - 1;
    const std::string address = rig_.hosts().address(victim);
    std::optional<Clock::time_point> cut;
    std::optional<double> noticed;
    Command command{.argv = poprunOverSsh(rig_, job, {"/bin/sh", "-c", "echo running; exec sleep 300"}),
                    .time_limit = std::chrono::seconds(60)};
    command.watch = [&](const std::string& output, pid_t) {
      if (!cut && countOf(output, "running") == static_cast<std::size_t>(job.hosts)) {
        rig_.hosts().linkDown(victim);
        cut = Clock::now();
      }
      if (cut && !noticed && output.find(address) != std::string::npos) noticed = secondsSince(*cut);
    };
    const Result<RunResult> result = run(command);
    if (cut) rig_.hosts().linkUp(victim);
    if (!cut || !noticed || !result.ok() || result.value().end == End::kTimedOut) {
      figures_.failures.push_back("silence: " +
                                  (result.ok() ? result.value().output : result.status().message()));
      return;
    }
    noticed_s.push_back(*noticed);
    ended_s.push_back(secondsSince(*cut));
    record(JsonLine("cut").add("noticed_s", noticed_s.back()).add("ended_s", ended_s.back()));
  }

  HostRig& rig_;
  const std::vector<HostContestant>& contestants_;
  const LaunchOptions& options_;
  Figures figures_;
};

}  // namespace

std::string whyUnusable(const HostContestant& contestant, const HostRig& rig, const LaunchOptions& options) {
  if (!contestant.needs.empty() && findInPath(contestant.needs).empty()) return "not installed";
  const Entry entry = entryOf(contestant, rig, {}, options);
  return failureOf(run(entry.command), entry.ranks);
}

Figures measureHosts(HostRig& rig, const std::vector<HostContestant>& contestants,
                     const LaunchOptions& options) {
  return HostMeasurement(rig, contestants, options).take();
}

std::optional<ControllerCost> controllerCost(const std::vector<std::pair<int, double>>& measured) {
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const auto& [hosts, ms] : measured) {
    const double x = hosts;
    sum_x += x;
    sum_y += ms;
    sum_xx += x * x;
    sum_xy += x * ms;
  }
  const auto count = static_cast<double>(measured.size());
  const double spread = count * sum_xx - sum_x * sum_x;
  if (spread <= 0) return std::nullopt;
  const double slope = (count * sum_xy - sum_x * sum_y) / spread;
  return ControllerCost{.fixed_ms = (sum_y - slope * sum_x) / count, .per_host_ms = slope};
}

}  // namespace pop::bench
