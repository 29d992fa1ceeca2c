// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/goal.h"

#include <array>
#include <cstdio>

#include "bench/harness/table.h"

namespace pop::bench {
namespace {

// The shortest exact form: "1.3", "300", "0.85".
std::string limitText(const Goal& goal) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%s %g", goal.at_least ? ">=" : "<=", goal.limit);
  return digits.data();
}

}  // namespace

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

}  // namespace pop::bench
