// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/results.h"

#include <array>
#include <cstdio>

#include "bench/harness/session.h"
#include "bench/harness/table.h"

namespace pop::bench {
namespace {

// The shortest exact form: "1.3", "300", "0.85".
std::string limitText(const Goal& goal) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%s %g", goal.at_least ? ">=" : "<=", goal.limit);
  return digits.data();
}

JsonLine toJson(const Goal& goal) {
  return JsonLine("goal")
      .add("goal", goal.text)
      .add("value", goal.value)
      .add(goal.at_least ? "at_least" : "at_most", goal.limit)
      .add("unit", goal.unit)
      .add("noisy", goal.is_noisy)
      .add("reached", goal.reached())
      .add("beyond_yardstick", goal.beyond_yardstick);
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
  const auto digits = [](double value) { return fixed(value, value < 1 ? 3 : 2); };
  for (const Figure& each : figures) {
    if (each.values.count == 0) continue;
    table.addRow({each.measure + ": " + each.what, each.contestant, each.unit,
                  (each.is_noisy ? "~" : "") + digits(each.values.median), digits(each.values.min),
                  digits(each.values.max), std::to_string(each.values.count)});
  }
  return table.text() + '\n';
}

}  // namespace

std::string goalTable(const std::vector<Goal>& goals) {
  if (goals.empty()) return {};
  Table table({"goal", "limit", "measured", "reached"});
  for (const Goal& goal : goals) {
    table.addRow({goal.text + (goal.unit.empty() ? "" : ", " + goal.unit), limitText(goal),
                  fixed(goal.value, 2),
                  std::string(goal.is_noisy ? "~" : "") + (goal.reached() ? "yes" : "NO") +
                      (goal.beyond_yardstick ? ", beyond the yardstick" : "")});
  }
  return "Goals\n\n" + table.text() + '\n';
}

std::vector<Goal> judge(const std::vector<Figure>& figures, const std::string& ours,
                        std::span<const FigureGoal> wanted) {
  std::vector<Goal> goals;
  for (const Figure& figure : figures) {
    if (!figure.contestant.starts_with(ours) || figure.values.count == 0) continue;
    for (const FigureGoal& goal : wanted) {
      if ((goal.measure != nullptr && figure.measure != goal.measure) ||
          (goal.what != nullptr && figure.what != goal.what))
        continue;
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

void report(const std::string& tables, const std::vector<Figure>& figures, const std::vector<Goal>& goals) {
  showProgress("");
  for (const Figure& figure : figures)
    if (figure.values.count > 0) record(toJson(figure));
  for (const Goal& goal : goals) record(toJson(goal));
  std::fputs((tables + figureTable(figures) + goalTable(goals)).c_str(), stderr);
}

}  // namespace pop::bench
