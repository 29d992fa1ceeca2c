// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/report.h"

#include <map>
#include <set>

#include "bench/harness/table.h"
#include "bench/launch_speed/contestants.h"

namespace pop::bench {

JsonLine toJson(const TimeFigure& figure) {
  return JsonLine("time")
      .add("contestant", figure.contestant)
      .add("program", figure.job_program)
      .add("n", figure.processes)
      .add("runs", figure.wall_ms.count)
      .add("median_ms", figure.wall_ms.median)
      .add("min_ms", figure.wall_ms.min)
      .add("lower_quartile_ms", figure.wall_ms.lower_quartile)
      .add("upper_quartile_ms", figure.wall_ms.upper_quartile)
      .add("max_ms", figure.wall_ms.max)
      .add("cpu_median_ms", figure.cpu_ms.median)
      .add("hung", figure.hung)
      .add("failed", figure.failed)
      .add("not_quiet", figure.not_quiet);
}

std::string cellOf(const TimeFigure& figure) {
  const auto counted = static_cast<int>(figure.wall_ms.count);
  std::string cell = counted == 0 ? "-" : fixed(figure.wall_ms.median, figure.wall_ms.median < 100 ? 2 : 0);
  if (figure.mostlyNotQuiet()) cell = '~' + cell;
  if (figure.hung > 0) cell += " h" + std::to_string(figure.hung);
  if (figure.failed > 0) cell += " f" + std::to_string(figure.failed);
  return cell;
}

namespace {

// One row for each number of processes, one column for each contestant, and poprun's ratios after its rivals.
std::string timeTable(const Figures& figures, const std::string& job_program) {
  std::vector<std::string> contestants;
  std::map<int, std::map<std::string, const TimeFigure*>> rows;
  for (const TimeFigure& figure : figures.times) {
    if (figure.job_program != job_program) continue;
    auto& row = rows[figure.processes];
    if (rows.size() == 1 && !row.contains(figure.contestant)) contestants.push_back(figure.contestant);
    row[figure.contestant] = &figure;
  }
  if (rows.empty()) return {};
  std::vector<std::string> headings{"N"};
  headings.insert(headings.end(), contestants.begin(), contestants.end());
  for (const std::string& name : contestants) {
    if (name != kPoprun && contestants.front() == kPoprun) headings.push_back("poprun/" + name);
  }
  Table table(std::move(headings));
  for (const auto& [processes, row] : rows) {
    std::vector<std::string> cells{std::to_string(processes)};
    for (const std::string& name : contestants) cells.push_back(cellOf(*row.at(name)));
    const TimeFigure* ours = figures.time(kPoprun, job_program, processes);
    for (const std::string& name : contestants) {
      if (name == kPoprun || contestants.front() != kPoprun) continue;
      const TimeFigure* other = figures.time(name, job_program, processes);
      const bool both = ours != nullptr && other != nullptr;
      cells.push_back(both ? fixed(ours->wall_ms.median / other->wall_ms.median, 2) : "-");
    }
    table.addRow(std::move(cells));
  }
  return "Whole job of `" + job_program + "`, median in ms\n\n" + table.text() + '\n';
}

std::string rateTable(const Figures& figures) {
  if (figures.rates.empty()) return {};
  Table table({"", "jobs/s"});
  for (const RateFigure& rate : figures.rates)
    table.addRow({rate.contestant, (rate.mostly_not_quiet ? "~" : "") + fixed(rate.jobs_per_s, 1) +
                                       (rate.failed > 0 ? " f" + std::to_string(rate.failed) : "")});
  return "Jobs of two processes, one after another\n\n" + table.text() + '\n';
}

std::string memoryTable(const Figures& figures) {
  if (figures.memory.empty()) return {};
  Table table({"", "N", "largest, KiB", "sum, KiB", "processes"});
  for (const MemoryFigure& memory : figures.memory) {
    const std::string& by_process = memory.by_process;
    table.addRow({memory.contestant, std::to_string(memory.processes), std::to_string(memory.largest_kib),
                  std::to_string(memory.sum_kib),
                  by_process.size() <= 80 ? by_process : by_process.substr(0, 77) + "..."});
  }
  return "Peak memory of the launcher's own processes\n\n" + table.text() + '\n';
}

std::string failures(const Figures& figures) {
  std::string text;
  for (const TimeFigure& figure : figures.times) {
    if (figure.failure.empty()) continue;
    text += figure.contestant + ", " + figure.job_program + ", N = " + std::to_string(figure.processes) +
            ": " + std::to_string(figure.hung) + " hung, " + std::to_string(figure.failed) + " failed of " +
            std::to_string(figure.hung + figure.failed + static_cast<int>(figure.wall_ms.count)) +
            "; first: " + figure.failure + '\n';
  }
  return text.empty() ? text : "Runs without a figure\n\n" + text + '\n';
}

}  // namespace

std::vector<JsonLine> toJson(const Figures& figures, const std::vector<Goal>& goals) {
  std::vector<JsonLine> lines;
  for (const TimeFigure& figure : figures.times) lines.push_back(toJson(figure));
  for (const RateFigure& rate : figures.rates) {
    lines.push_back(JsonLine("rate")
                        .add("contestant", rate.contestant)
                        .add("jobs_per_s", rate.jobs_per_s)
                        .add("noisy", rate.mostly_not_quiet)
                        .add("failed", rate.failed));
  }
  for (const MemoryFigure& memory : figures.memory) {
    lines.push_back(JsonLine("memory")
                        .add("contestant", memory.contestant)
                        .add("n", memory.processes)
                        .add("largest_kib", memory.largest_kib)
                        .add("sum_kib", memory.sum_kib)
                        .add("by_process", memory.by_process));
  }
  for (const Goal& goal : goals) lines.push_back(toJson(goal));
  return lines;
}

std::string inWords(const Figures& figures, const std::vector<Goal>& goals) {
  return timeTable(figures, "true") + timeTable(figures, "rank") + timeTable(figures, "mpich") +
         timeTable(figures, "openmpi") + rateTable(figures) + memoryTable(figures) + goalTable(goals) +
         failures(figures) + kLegend;
}

}  // namespace pop::bench
