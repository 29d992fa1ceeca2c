// SPDX-License-Identifier: Apache-2.0
// Measures popdistd: submits, whole jobs, launches, watchers, logs, and what it takes while idle; beside
// Slurm where that does the same. JSON lines on stdout, tables on stderr. It only reports: its exit code does
// not depend on the figures.
#include <cstdio>

#include "bench/daemon_speed/measures.h"
#include "bench/harness/machine.h"
#include "bench/harness/session.h"

namespace pop::bench {
namespace {

struct Measure {
  const char* name;
  DaemonFigures (*take)(const DaemonOptions&);
};
constexpr Measure kMeasures[] = {{"submit", measureSubmit}, {"partitions", measurePartitions},
                                 {"jobs", measureJobs},     {"launch", measureLaunch},
                                 {"watch", measureWatch},   {"logs", measureLogs},
                                 {"idle", measureIdle}};

constexpr FigureGoal kGoals[] = {{"submit", "50 clients", 1000, true},
                                 {"submit", "50 clients, p99 of a round", 30},
                                 {"submit", "one client", 5},
                                 {"submit", "popctl submit job", 40},
                                 {"partitions", nullptr, 500, true},
                                 {"jobs", "16 in flight", 40, true},
                                 {"jobs", "with records / without", 0.9, true},
                                 {"jobs", "popdistd / slurm", 1, true},
                                 {"launch", nullptr, 100},
                                 {"watch", "changes made", 95, true},
                                 {"watch", "200 watchers, p99", 100},
                                 {"logs", "replay", 100, true},
                                 {"idle", "CPU of popdistd", 0.5},
                                 {"idle", "memory of popdistd", 64}};

// Records the machine's load by other programs beside each measure.
void recordLoad(const std::string& measure, const CpuTimes& before) {
  record(JsonLine("load")
             .add("measure", measure)
             .add("load_average_1_min", describeMachine().load_average_1_min)
             .add("idle_fraction", readCpuTimes().since(before).idleFraction()));
}

int benchmark(const DaemonOptions& asked) {
  beginSession();
  DaemonOptions options = asked;
  options.programs = ownDirectory();
  for (const auto& [name, take] : kMeasures) {
    if (!chooses<std::string>(options.measures, name)) continue;
    const CpuTimes before = readCpuTimes();
    const DaemonFigures figures = take(options);
    showProgress("");
    recordLoad(name, before);
    if (figures.ok()) {
      report("", figures.value(), judge(figures.value(), kPopdistd, kGoals));
      continue;
    }
    record(JsonLine("failure").add("measure", name).add("why", figures.status().message()));
    std::fprintf(stderr, "%s: %s\n", name, figures.status().message().c_str());
  }
  return 0;
}

}  // namespace
}  // namespace pop::bench

int main(int argc, char** argv) {
  return pop::bench::runMain(pop::bench::parseDaemonOptions(argc, argv), pop::bench::benchmark);
}
