// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/figures.h"

#include <set>

#include "bench/harness/options.h"
#include "bench/harness/session.h"
#include "bench/harness/table.h"
#include "bench/launch_speed/contestants.h"

namespace pop::bench {
namespace {

JsonLine toJson(const TimeFigure& figure) {
  return JsonLine("time")
      .add("contestant", figure.contestant)
      .add("program", figure.job_program)
      .add("n", figure.processes)
      .add("runs", figure.wall_ms.count)
      .add(figure.wall_ms, "ms")
      .add("cpu_median_ms", figure.cpu_ms.median)
      .add("hung", figure.runs.hung)
      .add("failed", figure.runs.failed)
      .add("not_quiet", figure.runs.not_quiet);
}

std::string median(const TimeFigure& figure) {
  const double ms = figure.wall_ms.median;
  return figure.runs.marked(figure.wall_ms.count == 0 ? "-" : fixed(ms, ms < 100 ? 2 : 0));
}

// One row for each contestant; for each number of processes or hosts its time, and poprun's divided by it.
std::string timeTable(const Figures& figures, const std::string& job) {
  std::vector<std::string> contestants;
  std::set<int> counts;
  for (const TimeFigure& each : figures.times) {
    if (each.job_program != job) continue;
    counts.insert(each.processes);
    if (contestants.empty() || !chooses(contestants, each.contestant)) contestants.push_back(each.contestant);
  }
  std::vector<std::string> headings{"ms"};
  for (const int count : counts)
    headings.insert(headings.end(), {"N = " + std::to_string(count), "poprun / it"});
  Table table(std::move(headings));
  for (const std::string& name : contestants) {
    std::vector<std::string> cells{name};
    for (const int count : counts) {
      const TimeFigure* taken = nullptr;
      for (const TimeFigure& each : figures.times)
        if (each.contestant == name && each.job_program == job && each.processes == count) taken = &each;
      cells.push_back(taken == nullptr ? "" : median(*taken));
      const TimeFigure* ours = figures.time(kPoprun, job, count);
      const bool both = ours != nullptr && taken != nullptr && taken->wall_ms.count > 0 && name != kPoprun;
      cells.push_back(both ? fixed(ours->wall_ms.median / taken->wall_ms.median, 2) : "");
    }
    table.addRow(std::move(cells));
  }
  return "Whole job, " + job + ", median\n\n" + table.text() + '\n';
}

}  // namespace

const TimeFigure* Figures::time(const std::string& contestant, const std::string& job_program,
                                int processes) const {
  for (const TimeFigure& each : times) {
    if (each.contestant == contestant && each.job_program == job_program && each.processes == processes &&
        each.wall_ms.count > 0)
      return &each;
  }
  return nullptr;
}

const TimeFigure* Figures::fastestPeer(const TimeFigure& ours) const {
  const TimeFigure* fastest = nullptr;
  for (const TimeFigure& each : times) {
    if (!each.is_peer || each.job_program != ours.job_program || each.processes != ours.processes ||
        each.wall_ms.count == 0)
      continue;
    if (fastest == nullptr || each.wall_ms.median < fastest->wall_ms.median) fastest = &each;
  }
  return fastest;
}

std::string inWords(const Figures& figures) {
  std::vector<std::string> jobs;
  std::string text, failures;
  for (const TimeFigure& each : figures.times) {
    if (jobs.empty() || !chooses(jobs, each.job_program)) jobs.push_back(each.job_program);
    if (each.runs.failure.empty()) continue;
    failures += each.contestant + ", " + each.job_program + ", N = " + std::to_string(each.processes) + ": " +
                each.runs.failures() + '\n';
  }
  for (const std::string& job : jobs) text += timeTable(figures, job);
  for (const std::string& each : figures.failures) failures += each + '\n';
  return text + kLegend + '\n' + (failures.empty() ? "" : "Runs without a figure\n\n" + failures + '\n');
}

void report(const Figures& figures) {
  for (const TimeFigure& figure : figures.times) record(toJson(figure));
  report(inWords(figures), figures.others, judge(figures));
}

}  // namespace pop::bench
