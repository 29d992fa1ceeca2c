// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/report.h"

#include <algorithm>
#include <optional>

#include "bench/harness/table.h"

namespace pop::bench::collectives {
namespace {

constexpr const char* kLegend =
    "Times and ratios are of medians of batches; in brackets, ratios of minima. ~: most of the runs did not\n"
    "begin on a quiet machine. hK, fK: K runs hung, failed. -: no run ended well, or not measured.\n";

// Three digits and more: "0.06", "8.71", "95.2", "2460".
std::string microseconds(double us) {
  return fixed(us, us < 10 ? 2 : us < 100 ? 1 : 0);
}

std::string ratioText(double ratio) {
  return fixed(ratio, ratio < 10 ? 2 : ratio < 100 ? 1 : 0);
}

std::string cellOf(const TimeFigure& figure) {
  std::string cell = figure.measured() ? microseconds(figure.us.median) : "-";
  if (figure.mostlyNotQuiet()) cell = '~' + cell;
  if (figure.hung > 0) cell += " h" + std::to_string(figure.hung);
  if (figure.failed > 0) cell += " f" + std::to_string(figure.failed);
  return cell;
}

// Cells that differ only in size and type form one table.
bool inOneTable(const Cell& a, const Cell& b) {
  return a.operation == b.operation && a.ranks == b.ranks;
}

// The cells of one table, in the order of measurement.
struct Group {
  std::vector<Cell> cells;
  std::vector<std::string> contestants;
};

template <typename T>
void addOnce(std::vector<T>& list, const T& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

std::vector<Group> groupsOf(const Figures& figures) {
  std::vector<Group> groups;
  for (const TimeFigure& figure : figures.times) {
    if (groups.empty() || !inOneTable(groups.back().cells.front(), figure.cell)) groups.emplace_back();
    addOnce(groups.back().cells, figure.cell);
    addOnce(groups.back().contestants, figure.contestant);
  }
  return groups;
}

std::string headingOf(const Cell& cell) {
  return std::string(nameOf(cell.operation)) + ", " + std::to_string(cell.ranks) + " ranks";
}

std::string rowName(const Cell& cell) {
  std::string text = cell.operation == Operation::kBarrier ? "barrier" : sizeInWords(cell.bytes);
  if (cell.type != popdist::Type::kFloat) text += std::string(" of ") + popdist::nameOf(cell.type);
  return text;
}

std::string timeTable(const Figures& figures, const Group& group) {
  std::vector<std::string> headings{"µs"};
  headings.insert(headings.end(), group.contestants.begin(), group.contestants.end());
  Table table(std::move(headings));
  for (const Cell& cell : group.cells) {
    std::vector<std::string> row{rowName(cell)};
    for (const std::string& contestant : group.contestants) {
      const auto found = std::find_if(
          figures.times.begin(), figures.times.end(),
          [&](const TimeFigure& figure) { return figure.cell == cell && figure.contestant == contestant; });
      row.push_back(found == figures.times.end() ? "-" : cellOf(*found));
    }
    table.addRow(std::move(row));
  }
  return table.text();
}

// The peers' times divided by ours, for each of our variants: the best MPI in memory (within hosts), the best
// Gloo, Open MPI over TCP.
std::string ratioTable(const Figures& figures, const Group& group, const std::string& ours) {
  Table table({"times as fast: " + ours, "as MPI", "best MPI", "as Gloo", "as Open MPI over TCP"});
  const auto isOf = [](Family family) {
    return [family](const TimeFigure& figure) { return figure.family == family; };
  };
  bool has_row = false;
  for (const Cell& cell : group.cells) {
    const TimeFigure* own = figures.time(cell, ours);
    if (own == nullptr || cell.type != popdist::Type::kFloat) continue;
    const auto ratioTo = [&](const TimeFigure* rival) {
      has_row = has_row || rival != nullptr;
      return rival == nullptr ? std::string("-")
                              : ratioText(rival->us.median / own->us.median) + " (" +
                                    ratioText(rival->us.min / own->us.min) + ")";
    };
    const TimeFigure* mpi = figures.fastest(cell, [](const TimeFigure& figure) {
      return figure.family == Family::kOpenMpi || figure.family == Family::kMpich ||
             figure.family == Family::kOpenMpiHosts;
    });
    table.addRow({rowName(cell), ratioTo(mpi), mpi == nullptr ? "-" : mpi->contestant,
                  ratioTo(figures.fastest(cell, isOf(Family::kGloo))),
                  ratioTo(figures.fastest(cell, isOf(Family::kOpenMpiTcp)))});
  }
  return has_row ? table.text() : "";
}

std::string limitTable(const Figures& figures) {
  const auto text = [](const std::optional<double>& value) { return value ? ratioText(*value) : "-"; };
  Table table({"limits", "B_u, GB/s", "B_3, GB/s", "stream, GB/s", "duplex, GB/s", "flag, µs", "yield, µs",
               "T_heap, µs", "T_priv, µs", "T_tcp, µs", "T_swap, µs", "T_small, µs"});
  for (const CellLimits& limits : figures.limits) {
    table.addRow({inWords(limits.cell), text(limits.copy_where_data_is), text(limits.copy_in_shared_cache),
                  text(limits.tcp_stream), text(limits.tcp_duplex), text(limits.flag), text(limits.yield),
                  text(limits.sharedMemoryUs()), text(limits.privateMemoryUs()), text(limits.tcpUs()),
                  text(limits.swapUs()), text(limits.smallUs())});
  }
  return figures.limits.empty() ? "" : "The machine's limits, measured alongside\n\n" + table.text() + '\n';
}

std::string failures(const Figures& figures) {
  std::string text;
  for (const TimeFigure& figure : figures.times) {
    if (figure.failure.empty()) continue;
    text += figure.contestant + ", " + inWords(figure.cell) + ": " + std::to_string(figure.hung) + " hung, " +
            std::to_string(figure.failed) + " failed of " +
            std::to_string(figure.hung + figure.failed + figure.runs) + "; first: " + figure.failure + '\n';
  }
  return text.empty() ? text : "Runs without a figure\n\n" + text + '\n';
}

JsonLine& addCell(JsonLine& line, const Cell& cell) {
  return line.add("operation", nameOf(cell.operation))
      .add("element", popdist::nameOf(cell.type))
      .add("ranks", cell.ranks)
      .add("bytes", cell.bytes);
}

JsonLine toJson(const TimeFigure& figure) {
  JsonLine line("time");
  addCell(line, figure.cell).add("contestant", figure.contestant).add("batches", figure.us.count);
  line.add("median_us", figure.us.median).add("min_us", figure.us.min).add("max_us", figure.us.max);
  line.add("lower_quartile_us", figure.us.lower_quartile).add("upper_quartile_us", figure.us.upper_quartile);
  return line.add("hung", figure.hung).add("failed", figure.failed).add("not_quiet", figure.not_quiet);
}

JsonLine toJson(const CellLimits& limits) {
  JsonLine line("limits");
  addCell(line, limits.cell).add("cores", limits.cores);
  const auto addIf = [&](const char* name, const std::optional<double>& value) {
    if (value) line.add(name, *value);
  };
  addIf("b_u_gb_s", limits.copy_where_data_is);
  addIf("b_3_gb_s", limits.copy_in_shared_cache);
  addIf("tcp_stream_gb_s", limits.tcp_stream);
  addIf("tcp_duplex_gb_s", limits.tcp_duplex);
  addIf("flag_us", limits.flag);
  addIf("yield_us", limits.yield);
  addIf("t_heap_us", limits.sharedMemoryUs());
  addIf("t_priv_us", limits.privateMemoryUs());
  addIf("t_tcp_us", limits.tcpUs());
  addIf("t_swap_us", limits.swapUs());
  addIf("t_small_us", limits.smallUs());
  return line;
}

}  // namespace

std::vector<JsonLine> toJson(const Figures& figures, const std::vector<Goal>& goals) {
  std::vector<JsonLine> lines;
  for (const TimeFigure& figure : figures.times) lines.push_back(toJson(figure));
  for (const CellLimits& limits : figures.limits) lines.push_back(toJson(limits));
  for (const Goal& goal : goals) lines.push_back(bench::toJson(goal));
  return lines;
}

std::string inWords(const Figures& figures, const std::vector<Goal>& goals) {
  std::string text;
  for (const Group& group : groupsOf(figures)) {
    text += headingOf(group.cells.front()) + "\n\n" + timeTable(figures, group) + '\n';
    for (const char* ours : {kPrivate, kShared, kTcp}) {
      const std::string ratios = ratioTable(figures, group, ours);
      if (!ratios.empty()) text += ratios + '\n';
    }
  }
  return text + limitTable(figures) + goalTable(goals) + failures(figures) + kLegend;
}

}  // namespace pop::bench::collectives
