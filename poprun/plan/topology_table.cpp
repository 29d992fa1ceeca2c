// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/topology_table.h"

#include <algorithm>

namespace pop {
namespace {

// A label over `replicas` consecutive cells of the last row.
struct Cell {
  std::string label;
  int replicas = 0;
};
using Row = std::vector<Cell>;

constexpr int kFirstColumnWidth = 11;

// The total width of `cells` replica cells of inner width `width`: a space on both sides, a bar between two.
std::size_t spanWidth(int cells, std::size_t width) {
  return static_cast<std::size_t>(cells) * (width + 3) - 1;
}

std::string centred(const std::string& text, std::size_t width) {
  const std::size_t spare = width - std::min(width, text.size());
  return std::string(spare / 2, ' ') + text + std::string(spare - spare / 2, ' ');
}

// One cell per run of placements for which `key` is the same.
template <typename Key, typename Label>
Row groupBy(const std::vector<model::InstancePlacement>& placement, Key key, Label label) {
  Row row;
  int last = -1;
  for (const model::InstancePlacement& each : placement) {
    if (row.empty() || key(each) != last) row.push_back({label(key(each)), 0});
    last = key(each);
    row.back().replicas += each.num_replicas;
  }
  return row;
}

// The smallest width of replica cells with which every label fits.
std::size_t replicaCellWidth(const std::vector<Row>& rows, int replicas) {
  std::size_t width = std::to_string(replicas - 1).size();
  for (const Row& row : rows) {
    for (const Cell& cell : row) {
      while (spanWidth(cell.replicas, width) < cell.label.size() + 2) ++width;
    }
  }
  return width;
}

std::string rowText(const std::string& title, const Row& row, std::size_t width) {
  std::string text = "| " + title + std::string(kFirstColumnWidth - 1 - title.size(), ' ');
  for (const Cell& cell : row) text += '|' + centred(cell.label, spanWidth(cell.replicas, width));
  return text + "|\n";
}

std::string replicaText(int replicas, std::size_t width) {
  std::string text = "| replicas  ";
  for (int replica = 0; replica < replicas; ++replica) {
    const std::string index = std::to_string(replica);
    text += "| " + index + std::string(width + 1 - index.size(), ' ');
  }
  return text + "|\n";
}

}  // namespace

std::string topologyTable(const model::JobSpec& spec,
                          const std::vector<model::InstancePlacement>& placement) {
  using model::InstancePlacement;
  const auto number = [](int index) { return std::to_string(index); };
  const std::vector<Row> rows{
      groupBy(
          placement, [](const InstancePlacement& p) { return p.host; },
          [&spec](int host) { return spec.hosts[static_cast<std::size_t>(host)].name; }),
      groupBy(
          placement, [](const InstancePlacement& p) { return p.ild; }, number),
      groupBy(
          placement, [](const InstancePlacement& p) { return p.instance; }, number)};
  const std::size_t width = replicaCellWidth(rows, spec.num_replicas);
  const std::size_t span = spanWidth(spec.num_replicas, width);
  const std::size_t inner = kFirstColumnWidth + 1 + span;
  const std::string ruler = '|' + std::string(kFirstColumnWidth, '-') + '|' + std::string(span, '-') + "|\n";

  std::string table = ' ' + std::string(inner, '=') + '\n';
  table += '|' + centred("poprun topology", inner) + "|\n";
  table += '|' + std::string(inner, '=') + "|\n";
  table += rowText("hosts", rows[0], width) + ruler;
  table += rowText("ILDs", rows[1], width) + ruler;
  table += rowText("instances", rows[2], width) + ruler;
  table += replicaText(spec.num_replicas, width);
  return table + ' ' + std::string(inner, '-') + '\n';
}

}  // namespace pop
