// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/results.h"

#include <cstdio>

#include "bench/harness/session.h"
#include "bench/harness/table.h"

namespace pop::bench {

std::vector<Goal> judge(const std::vector<Figure>& figures, const std::string& ours,
                        std::span<const FigureGoal> wanted) {
  std::vector<Goal> goals;
  for (const Figure& figure : figures) {
    if (!figure.contestant.starts_with(ours) || figure.values.count == 0) continue;
    for (const FigureGoal& goal : wanted) {
      if (figure.measure != goal.measure || (goal.what != nullptr && figure.what != goal.what)) continue;
      goals.push_back({.text = figure.contestant + ": " + figure.measure + ", " + figure.what,
                       .value = figure.values.median,
                       .limit = goal.limit,
                       .at_least = goal.at_least,
                       .unit = figure.unit,
                       .is_noisy = figure.is_noisy});
    }
  }
  return goals;
}

JsonLine toJson(const Figure& figure) {
  return JsonLine("figure")
      .add("measure", figure.measure)
      .add("contestant", figure.contestant)
      .add("what", figure.what)
      .add("unit", figure.unit)
      .add("count", figure.values.count)
      .add(figure.values)
      .add("noisy", figure.is_noisy);
}

std::string figureTable(const std::vector<Figure>& figures) {
  if (figures.empty()) return {};
  Table table({"", "contestant", "unit", "median", "least", "most", "values"});
  for (const Figure& each : figures) {
    if (each.values.count == 0) continue;
    table.addRow({each.measure + ": " + each.what, each.contestant, each.unit,
                  (each.is_noisy ? "~" : "") + fixed(each.values.median, 2), fixed(each.values.min, 2),
                  fixed(each.values.max, 2), std::to_string(each.values.count)});
  }
  return table.text() + '\n';
}

void report(const std::string& tables, const std::vector<Figure>& figures, const std::vector<Goal>& goals) {
  showProgress("");
  for (const Figure& figure : figures)
    if (figure.values.count > 0) record(toJson(figure));
  for (const Goal& goal : goals) record(toJson(goal));
  std::fputs((tables + figureTable(figures) + goalTable(goals)).c_str(), stderr);
}

}  // namespace pop::bench
