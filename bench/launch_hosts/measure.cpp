// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_hosts/measure.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <sstream>
#include <string_view>

#include "bench/harness/peak_memory.h"

namespace pop::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCostCounts[] = {8, 16, 32};
constexpr int kFences = 200;
constexpr int kInstancesOfFence = 4;  // on each host
constexpr int kHostsOfSilence = 3;
constexpr int kCuts = 3;
// popdist-agent-service, truncated as the kernel truncates process names.
constexpr std::string_view kServiceName = "popdist-agent-s";

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

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

class HostMeasurement {
 public:
  HostMeasurement(HostRig& rig, const std::vector<HostContestant>& contestants, const LaunchOptions& options,
                  const Hooks& hooks)
      : rig_(rig),
        contestants_(contestants),
        options_(options),
        hooks_(hooks),
        gate_(options.quiet_timeout) {}

  HostFigures take() {
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
    const Turns turns{std::to_string(job.per_host) + " per host", job.hosts,
                      options_.repeatsOnHosts(job.hosts)};
    for (TimeFigure& figure : takeTimes(turns, entries, gate_, hooks_))
      figures_.times.push_back(std::move(figure));
  }

  void takeCosts() {
    for (const int hosts : kCostCounts) {
      if (hosts > rig_.hosts().count()) continue;
      const HostJob job{.hosts = hosts};
      const HostContestant poprun = chooseHostContestants({"poprun"}).front();
      const Turns turns{"cost of the controller", hosts, options_.repeatsOnHosts(hosts)};
      std::vector<TimeFigure> taken = takeTimes(turns, {entryOf(poprun, rig_, job, options_)}, gate_, hooks_);
      figures_.costs.push_back(std::move(taken.front()));
    }
  }

  // One job for both figures: its instances print the times of their fences, and then run on while the
  // launchers' memory is read.
  void takeFences(const HostContestant& contestant) {
    const HostJob job{rig_.hosts().count(), kInstancesOfFence};
    hooks_.progress("fences of " + std::to_string(job.processes()) + " instances, " + contestant.name);
    const bool quiet = gate_.wait().quiet;
    HostMemoryFigure memory{contestant.name, job.hosts, job.processes()};
    Command command{
        .argv = contestant.running(rig_, job, {rig_.program("bench_launch_fence"), std::to_string(kFences)}),
        .time_limit = options_.timeLimitOf(job.processes())};
    command.watch = [&](const std::string& output, pid_t pid) {
      if (countOf(output, "held") < static_cast<std::size_t>(job.processes()) || memory.controller_kib > 0)
        return;
      takePeaks(pid, contestant.by_daemons, memory);
      ::kill(pid, SIGTERM);
    };
    const Result<RunResult> result = run(command);
    if (!result.ok() || memory.controller_kib == 0) {
      figures_.failures.push_back(
          contestant.name + ", fence: " + (result.ok() ? result.value().output : result.status().message()));
      return;
    }
    figures_.memory.push_back(memory);
    figures_.fences.push_back(
        {contestant.name, job.hosts, job.processes(), summarize(slowestOf(result.value().output)), !quiet});
  }

  // Services run on all hosts, also while a job comes over SSH.
  void takePeaks(pid_t controller, bool by_service, HostMemoryFigure& memory) {
    if (const std::optional<ProcessPeak> peak = peakMemoryOf(controller))
      memory.controller_kib = peak->peak_kib;
    for (int host = 0; host < memory.hosts; ++host) {
      for (const pid_t pid : rig_.hosts().processesOn(host)) {
        const std::optional<ProcessPeak> peak = peakMemoryOf(pid);
        if (!peak) continue;
        if (peak->name == "popdist-agent") memory.agent_kib = std::max(memory.agent_kib, peak->peak_kib);
        if (peak->name == kServiceName && by_service)
          memory.service_kib = std::max(memory.service_kib, peak->peak_kib);
        if (peak->name == "pop-keeper") memory.keeper_kib = std::max(memory.keeper_kib, peak->peak_kib);
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
      hooks_.progress("a host is cut off, " + std::to_string(cut + 1) + " of " + std::to_string(kCuts));
      takeCut(job, noticed_s, ended_s);
    }
    figures_.silence = SilenceFigure{job.hosts, summarize(noticed_s), summarize(ended_s)};
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
    hooks_.record(JsonLine("cut").add("noticed_s", noticed_s.back()).add("ended_s", ended_s.back()));
  }

  HostRig& rig_;
  const std::vector<HostContestant>& contestants_;
  const LaunchOptions& options_;
  const Hooks& hooks_;
  QuietGate gate_;
  HostFigures figures_;
};

}  // namespace

std::string whyUnusable(const HostContestant& contestant, const HostRig& rig, const LaunchOptions& options) {
  if (!contestant.needs.empty() && findInPath(contestant.needs).empty()) return "not installed";
  const Entry entry = entryOf(contestant, rig, {}, options);
  return failureOf(run(entry.command), entry.ranks);
}

HostFigures measureHosts(HostRig& rig, const std::vector<HostContestant>& contestants,
                         const LaunchOptions& options, const Hooks& hooks) {
  return HostMeasurement(rig, contestants, options, hooks).take();
}

}  // namespace pop::bench
