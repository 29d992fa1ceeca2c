// SPDX-License-Identifier: Apache-2.0
// Measures popdistd: submits, whole jobs, launches, watchers, logs, and what it takes while idle; beside
// Slurm where that does the same. JSON lines on stdout, tables on stderr. It only reports: its exit code does
// not depend on the figures.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "bench/daemon_speed/measures.h"
#include "bench/daemon_speed/options.h"
#include "bench/daemon_speed/report.h"
#include "bench/harness/machine.h"
#include "bench/harness/session.h"

namespace pop::bench {
namespace {

constexpr std::pair<const char*, Status (*)(const DaemonOptions&, DaemonFigures&)> kMeasures[] = {
    {"submit", measureSubmit}, {"partitions", measurePartitions}, {"jobs", measureJobs},
    {"launch", measureLaunch}, {"watch", measureWatch},           {"logs", measureLogs},
    {"idle", measureIdle}};

// Records the machine's load by other programs beside each measure.
void recordLoad(const std::string& measure, const CpuTimes& before) {
  record(JsonLine("load")
             .add("measure", measure)
             .add("load_average_1_min", describeMachine().load_average_1_min)
             .add("idle_fraction", readCpuTimes().since(before).idleFraction()));
}

int benchmark(DaemonOptions options) {
  beginSession();
  options.programs = ownDirectory();
  DaemonFigures all;
  for (const auto& [name, measure] : kMeasures) {
    if (std::ranges::find(options.measures, name) == options.measures.end()) continue;
    const CpuTimes before = readCpuTimes();
    DaemonFigures own;
    const Status measured = measure(options, own);
    showProgress("");
    recordLoad(name, before);
    if (!measured.ok()) {
      record(JsonLine("failure").add("measure", name).add("why", measured.message()));
      std::fprintf(stderr, "bench/daemon: %s: %s\n", name, measured.message().c_str());
    }
    for (const JsonLine& line : toJson(own)) record(line);
    std::ranges::move(own.figures, std::back_inserter(all.figures));
    std::ranges::move(own.goals, std::back_inserter(all.goals));
  }
  std::fputs(inWords(all).c_str(), stderr);
  return 0;
}

}  // namespace
}  // namespace pop::bench

int main(int argc, char** argv) {
  const auto options = pop::bench::parseDaemonOptions(argc, argv);
  if (!options.ok()) {
    std::fprintf(stderr, "bench/daemon: %s\n", options.status().message().c_str());
    return 2;
  }
  if (options.value().help) {
    std::fputs(pop::bench::daemonHelp().c_str(), stdout);
    return 0;
  }
  return pop::bench::benchmark(options.value());
}
