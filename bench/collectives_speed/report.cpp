// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include "bench/collectives_speed/figures.h"
#include "bench/harness/session.h"
#include "bench/harness/table.h"

namespace pop::bench::collectives {
namespace {

// Three digits and more: "0.06", "8.71", "95.2", "2460".
std::string microseconds(double us) {
  return fixed(us, us < 10 ? 2 : us < 100 ? 1 : 0);
}

std::string ratioText(double ratio) {
  return fixed(ratio, ratio < 10 ? 2 : ratio < 100 ? 1 : 0);
}

std::string cellOf(const TimeFigure& figure) {
  return figure.runs.marked(figure.measured() ? microseconds(figure.us.median) : "-");
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

struct Limit {
  const char* json;
  const char* heading;
  std::optional<double> value;
};

std::vector<Limit> limitsOf(const CellLimits& limits) {
  return {{"b_u_gb_s", "B_u, GB/s", limits.copy_where_data_is},
          {"b_3_gb_s", "B_3, GB/s", limits.copy_in_shared_cache},
          {"tcp_stream_gb_s", "stream, GB/s", limits.tcp_stream},
          {"tcp_duplex_gb_s", "duplex, GB/s", limits.tcp_duplex},
          {"flag_us", "flag, µs", limits.flag},
          {"yield_us", "yield, µs", limits.yield},
          {"t_heap_us", "T_heap, µs", limits.sharedMemoryUs()},
          {"t_priv_us", "T_priv, µs", limits.privateMemoryUs()},
          {"t_tcp_us", "T_tcp, µs", limits.tcpUs()},
          {"t_swap_us", "T_swap, µs", limits.swapUs()},
          {"t_small_us", "T_small, µs", limits.smallUs()}};
}

std::string limitTable(const Figures& figures) {
  if (figures.limits.empty()) return {};
  std::vector<std::string> headings{"limits"};
  for (const Limit& each : limitsOf({})) headings.emplace_back(each.heading);
  Table table(std::move(headings));
  for (const CellLimits& limits : figures.limits) {
    std::vector<std::string> row{inWords(limits.cell)};
    for (const Limit& each : limitsOf(limits)) row.push_back(each.value ? ratioText(*each.value) : "-");
    table.addRow(std::move(row));
  }
  return "The machine's limits, measured alongside\n\n" + table.text() + '\n';
}

std::string failures(const Figures& figures) {
  std::string text;
  for (const TimeFigure& figure : figures.times) {
    if (!figure.runs.failure.empty())
      text += figure.contestant + ", " + inWords(figure.cell) + ": " + figure.runs.failures() + '\n';
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
  line.add(figure.us, "us").add("hung", figure.runs.hung).add("failed", figure.runs.failed);
  return line.add("not_quiet", figure.runs.not_quiet);
}

JsonLine toJson(const CellLimits& limits) {
  JsonLine line("limits");
  addCell(line, limits.cell).add("cores", limits.cores);
  for (const Limit& each : limitsOf(limits))
    if (each.value) line.add(each.json, *each.value);
  return line;
}

}  // namespace

void report(const Figures& figures) {
  for (const TimeFigure& figure : figures.times) record(toJson(figure));
  for (const CellLimits& limits : figures.limits) record(toJson(limits));
  std::string text;
  for (const Group& group : groupsOf(figures)) {
    text += headingOf(group.cells.front()) + "\n\n" + timeTable(figures, group) + '\n';
    for (const char* ours : {kPrivate, kShared, kTcp}) {
      const std::string ratios = ratioTable(figures, group, ours);
      if (!ratios.empty()) text += ratios + '\n';
    }
  }
  text += "Times and ratios are of medians of batches; in brackets, ratios of minima. ";
  bench::report(text + kLegend + '\n' + limitTable(figures) + failures(figures), {}, judge(figures));
}

void Turns::count(const std::vector<double>& values, bool is_near, bool is_quiet) {
  std::vector<double>& sample = is_near ? near : far;
  sample.insert(sample.end(), values.begin(), values.end());
  ++(is_near ? near_turns : far_turns);
  if (is_near && !is_quiet) ++not_quiet;
}

void Turns::nearWasFar() {
  far.insert(far.end(), near.begin(), near.end());
  far_turns += std::exchange(near_turns, 0);
  near.clear();
  not_quiet = 0;
}

TimeFigure Turns::result() const {
  TimeFigure result = figure;
  const bool has_near = near_turns > 0;
  result.us = summarize(has_near ? near : far);
  result.runs.good = has_near ? near_turns : far_turns;
  result.runs.not_quiet = has_near ? not_quiet : far_turns;
  return result;
}

}  // namespace pop::bench::collectives
