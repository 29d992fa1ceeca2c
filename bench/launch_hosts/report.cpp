// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_hosts/report.h"

#include <algorithm>
#include <set>

#include "bench/harness/table.h"
#include "bench/launch_hosts/contestants.h"
#include "bench/launch_speed/contestants.h"
#include "bench/launch_speed/report.h"

namespace pop::bench {
namespace {

constexpr int kGoalHosts = 32;
constexpr double kOfSshLimit = 1.2;
constexpr double kByService1Ms = 30;
constexpr double kByService8Ms = 130;
constexpr double kFenceMs = 5;
constexpr double kAgentMb = 15;
constexpr double kNoticedS = 5.1;  // 5 s of silence, plus the time to report it
constexpr int kManyHosts = 1000;

const TimeFigure* find(const HostFigures& figures, const std::string& contestant, const std::string& job,
                       int hosts) {
  for (const TimeFigure& each : figures.times) {
    if (each.contestant == contestant && each.job_program == job && each.processes == hosts &&
        each.wall_ms.count > 0)
      return &each;
  }
  return nullptr;
}

double inMb(std::int64_t kib) {
  return static_cast<double>(kib) * 1024 / 1e6;
}

void judgeService(const HostFigures& figures, std::vector<Goal>& goals) {
  const std::pair<const char*, double> limits[] = {{"1 per host", kByService1Ms},
                                                   {"8 per host", kByService8Ms}};
  for (const auto& [job, limit_ms] : limits) {
    const TimeFigure* const ours = find(figures, kPoprunByService, job, kGoalHosts);
    if (ours == nullptr) continue;
    goals.push_back(
        {.text = kPoprunByService + ", " + std::to_string(kGoalHosts) + " hosts, " + std::string(job),
         .value = ours->wall_ms.median,
         .limit = limit_ms,
         .unit = "ms",
         .is_noisy = ours->mostlyNotQuiet()});
  }
}

void judgeTimes(const HostFigures& figures, std::vector<Goal>& goals) {
  const TimeFigure* ours = find(figures, kPoprun, "1 per host", kGoalHosts);
  if (ours == nullptr) return;
  const auto add = [&](const TimeFigure& other, double limit) {
    goals.push_back({.text = "poprun / " + other.contestant + ", " + std::to_string(kGoalHosts) + " hosts",
                     .value = ours->wall_ms.median / other.wall_ms.median,
                     .limit = limit,
                     .is_noisy = ours->mostlyNotQuiet() || other.mostlyNotQuiet()});
  };
  if (const TimeFigure* limit = find(figures, kSshLimit, "1 per host", kGoalHosts)) add(*limit, kOfSshLimit);
  const TimeFigure* fastest = nullptr;
  for (const TimeFigure& each : figures.times) {
    if (!each.is_peer || each.job_program != ours->job_program || each.processes != kGoalHosts ||
        each.wall_ms.count == 0)
      continue;
    if (fastest == nullptr || each.wall_ms.median < fastest->wall_ms.median) fastest = &each;
  }
  if (fastest != nullptr) add(*fastest, 1.0);
}

// One row for each contestant; for each number of hosts its time, and poprun's time divided by it.
std::string timeTable(const HostFigures& figures, const std::string& job) {
  std::vector<std::string> contestants;
  std::set<int> counts;
  for (const TimeFigure& each : figures.times) {
    if (each.job_program != job) continue;
    counts.insert(each.processes);
    if (std::find(contestants.begin(), contestants.end(), each.contestant) == contestants.end())
      contestants.push_back(each.contestant);
  }
  std::vector<std::string> headings{""};
  for (const int hosts : counts) {
    headings.push_back(std::to_string(hosts) + (hosts == 1 ? " host" : " hosts") + ", ms");
    headings.emplace_back("poprun / it");
  }
  Table table(std::move(headings));
  for (const std::string& name : contestants) {
    std::vector<std::string> cells{name};
    for (const int hosts : counts) {
      const auto taken =
          std::find_if(figures.times.begin(), figures.times.end(), [&](const TimeFigure& each) {
            return each.contestant == name && each.job_program == job && each.processes == hosts;
          });
      cells.push_back(taken == figures.times.end() ? "" : cellOf(*taken));
      const TimeFigure* ours = find(figures, kPoprun, job, hosts);
      const TimeFigure* other = find(figures, name, job, hosts);
      const bool both = ours != nullptr && other != nullptr && name != kPoprun;
      cells.push_back(both ? fixed(ours->wall_ms.median / other->wall_ms.median, 2) : "");
    }
    table.addRow(std::move(cells));
  }
  return "Whole job, " + job + ", median\n\n" + table.text() + '\n';
}

std::string costTable(const HostFigures& figures) {
  if (figures.costs.empty()) return {};
  Table table({"hosts", "CPU time of poprun, ms", "for each host, ms"});
  for (const TimeFigure& each : figures.costs) {
    table.addRow({std::to_string(each.processes), fixed(each.cpu_ms.median, 1),
                  fixed(each.cpu_ms.median / each.processes, 2)});
  }
  const std::optional<ControllerCost> cost = controllerCost(figures.costs);
  std::string line;
  if (cost) {
    line = fixed(cost->fixed_ms, 1) + " ms and " + fixed(cost->per_host_ms, 2) + " ms for each host; for " +
           std::to_string(kManyHosts) + " hosts that would be " + fixed(cost->of(kManyHosts) / 1e3, 2) +
           " s\n\n";
  }
  return "What the controller costs, one process on each host\n\n" + table.text() + '\n' + line;
}

std::string otherFigures(const HostFigures& figures) {
  std::string text;
  for (const FenceFigure& fence : figures.fences) {
    text += "A fence of " + std::to_string(fence.instances) + " instances on " + std::to_string(fence.hosts) +
            " hosts, " + fence.contestant + ": " + (fence.not_quiet ? "~" : "") +
            fixed(fence.slowest_ms.median, 2) + " ms (median of " + std::to_string(fence.slowest_ms.count) +
            "; quartiles " + fixed(fence.slowest_ms.lower_quartile, 2) + " and " +
            fixed(fence.slowest_ms.upper_quartile, 2) + ")\n";
  }
  for (const HostMemoryFigure& memory : figures.memory) {
    text +=
        "Peak memory, " + std::to_string(memory.instances) + " instances on " + std::to_string(memory.hosts) +
        " hosts, " + memory.contestant + ": agent " + fixed(inMb(memory.agent_kib), 1) +
        " MB and its keeper " + fixed(inMb(memory.keeper_kib), 1) + " MB; poprun " +
        fixed(inMb(memory.controller_kib), 1) + " MB" +
        (memory.service_kib > 0 ? "; the agent service " + fixed(inMb(memory.service_kib), 1) + " MB" : "") +
        '\n';
  }
  if (const auto& silence = figures.silence; silence && silence->noticed_s.count > 0) {
    text += "A host of " + std::to_string(silence->hosts) + " is cut off: noticed after " +
            fixed(silence->noticed_s.median, 2) + " s (at most " + fixed(silence->noticed_s.max, 2) +
            "), the job has ended after " + fixed(silence->ended_s.median, 2) + " s\n";
  }
  return text.empty() ? text : text + '\n';
}

std::string failures(const HostFigures& figures) {
  std::string text;
  for (const TimeFigure& each : figures.times) {
    if (!each.failure.empty())
      text += each.contestant + ", " + each.job_program + ", " + std::to_string(each.processes) +
              " hosts: " + each.failure + '\n';
  }
  for (const std::string& each : figures.failures) text += each + '\n';
  return text.empty() ? text : "Runs without a figure\n\n" + text + '\n';
}

}  // namespace

std::vector<Goal> judge(const HostFigures& figures) {
  std::vector<Goal> goals;
  judgeTimes(figures, goals);
  judgeService(figures, goals);
  for (const FenceFigure& fence : figures.fences) {
    goals.push_back({.text = fence.contestant + ", fence of " + std::to_string(fence.instances) +
                             " instances on " + std::to_string(fence.hosts) + " hosts",
                     .value = fence.slowest_ms.median,
                     .limit = kFenceMs,
                     .unit = "ms",
                     .is_noisy = fence.not_quiet});
  }
  for (const HostMemoryFigure& memory : figures.memory) {
    goals.push_back({.text = memory.contestant + ", peak memory of an agent",
                     .value = inMb(memory.agent_kib),
                     .limit = kAgentMb,
                     .unit = "MB"});
    if (memory.service_kib == 0) continue;
    goals.push_back({.text = memory.contestant + ", peak memory of the agent service",
                     .value = inMb(memory.service_kib),
                     .limit = kAgentMb,
                     .unit = "MB"});
  }
  if (const auto& silence = figures.silence; silence && silence->noticed_s.count > 0) {
    goals.push_back({.text = "a host that is cut off is noticed",
                     .value = silence->noticed_s.median,
                     .limit = kNoticedS,
                     .unit = "s"});
  }
  return goals;
}

std::vector<JsonLine> toJson(const HostFigures& figures, const std::vector<Goal>& goals) {
  std::vector<JsonLine> lines;
  for (const TimeFigure& each : figures.times) lines.push_back(toJson(each));
  for (const TimeFigure& each : figures.costs) lines.push_back(toJson(each));
  if (const auto cost = controllerCost(figures.costs)) {
    lines.push_back(
        JsonLine("controller_cost").add("fixed_ms", cost->fixed_ms).add("per_host_ms", cost->per_host_ms));
  }
  for (const FenceFigure& fence : figures.fences) {
    lines.push_back(JsonLine("fence")
                        .add("contestant", fence.contestant)
                        .add("hosts", fence.hosts)
                        .add("instances", fence.instances)
                        .add("median_ms", fence.slowest_ms.median)
                        .add("max_ms", fence.slowest_ms.max));
  }
  for (const HostMemoryFigure& memory : figures.memory) {
    lines.push_back(JsonLine("host_memory")
                        .add("contestant", memory.contestant)
                        .add("hosts", memory.hosts)
                        .add("agent_kib", memory.agent_kib)
                        .add("keeper_kib", memory.keeper_kib)
                        .add("controller_kib", memory.controller_kib)
                        .add("service_kib", memory.service_kib));
  }
  for (const Goal& goal : goals) lines.push_back(toJson(goal));
  return lines;
}

std::string inWords(const HostFigures& figures, const std::vector<Goal>& goals) {
  std::set<std::string> jobs;
  for (const TimeFigure& each : figures.times) jobs.insert(each.job_program);
  std::string text;
  for (const std::string& job : jobs) text += timeTable(figures, job);
  return text + costTable(figures) + otherFigures(figures) + goalTable(goals) + failures(figures) + kLegend;
}

}  // namespace pop::bench
