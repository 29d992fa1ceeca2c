// SPDX-License-Identifier: Apache-2.0
#include "bench/daemon_speed/report.h"

#include "bench/harness/table.h"

namespace pop::bench {

std::vector<JsonLine> toJson(const DaemonFigures& all) {
  std::vector<JsonLine> lines;
  for (const DaemonFigure& figure : all.figures)
    lines.push_back(JsonLine("figure")
                        .add("measure", figure.measure)
                        .add("contestant", figure.contestant)
                        .add("what", figure.what)
                        .add("unit", figure.unit)
                        .add("count", figure.values.count)
                        .add("median", figure.values.median)
                        .add("min", figure.values.min)
                        .add("max", figure.values.max)
                        .add("lower_quartile", figure.values.lower_quartile)
                        .add("upper_quartile", figure.values.upper_quartile));
  for (const Goal& goal : all.goals) lines.push_back(toJson(goal));
  return lines;
}

std::string inWords(const DaemonFigures& all) {
  Table table({"", "contestant", "unit", "median", "least", "most", "values"});
  for (const DaemonFigure& figure : all.figures)
    table.addRow({figure.measure + ": " + figure.what, figure.contestant, figure.unit,
                  fixed(figure.values.median, 2), fixed(figure.values.min, 2), fixed(figure.values.max, 2),
                  std::to_string(figure.values.count)});
  return "\n" + table.text() + "\n" + goalTable(all.goals);
}

}  // namespace pop::bench
