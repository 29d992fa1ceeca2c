// SPDX-License-Identifier: Apache-2.0
#include "agent/topo/topology_text.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/text.h"

namespace pop::agent {
namespace {

using model::CpuSet;
using model::HostTopology;
using model::TopologyDetail;

constexpr std::array<std::pair<TopologyDetail, const char*>, 3> kDetails{{
    {TopologyDetail::kCpus, "cpus"},
    {TopologyDetail::kNodes, "nodes"},
    {TopologyDetail::kCores, "cores"},
}};

std::string setText(const CpuSet& cpus) {
  return cpus.empty() ? "-" : cpus.text();
}

Result<CpuSet> parseSet(const std::string& text) {
  if (text == "-") return CpuSet();
  return CpuSet::parse(text);
}

// Adds the values of one line to the topology; false if the line is malformed.
bool readLine(const std::vector<std::string>& words, HostTopology& topology) {
  const Result<CpuSet> cpus = parseSet(words.back());
  if (!cpus.ok()) return false;
  if (words[0] == "allowed" && words.size() == 2) {
    topology.allowed = cpus.value();
    return true;
  }
  if (words.size() != 4) return false;
  const Result<std::int64_t> first = parseInteger(words[1]);
  const Result<std::int64_t> second = parseInteger(words[2]);
  if (!first.ok() || !second.ok()) return false;
  if (words[0] == "node" && second.value() >= 0) {
    topology.nodes.push_back({.index = static_cast<int>(first.value()),
                              .cpus = cpus.value(),
                              .memory_bytes = static_cast<std::uint64_t>(second.value())});
    return true;
  }
  if (words[0] != "core" || cpus.value().empty()) return false;
  topology.cores.push_back({.cpus = cpus.value(),
                            .package = static_cast<int>(first.value()),
                            .efficiency = static_cast<int>(second.value())});
  return true;
}

}  // namespace

std::string topologyDetailName(TopologyDetail detail) {
  return kDetails[static_cast<std::size_t>(detail)].second;
}

Result<TopologyDetail> parseTopologyDetail(std::string_view name) {
  for (const auto& [detail, known] : kDetails) {
    if (name == known) return detail;
  }
  return Status(Code::kInvalidArgument, "'" + std::string(name) + "' is not cpus, nodes or cores");
}

std::string topologyText(const HostTopology& topology) {
  std::string text = "allowed " + setText(topology.allowed) + '\n';
  for (const model::MemoryNode& node : topology.nodes) {
    text += "node " + std::to_string(node.index) + ' ' + std::to_string(node.memory_bytes) + ' ' +
            setText(node.cpus) + '\n';
  }
  for (const model::Core& core : topology.cores) {
    text += "core " + std::to_string(core.package) + ' ' + std::to_string(core.efficiency) + ' ' +
            setText(core.cpus) + '\n';
  }
  return text;
}

Result<HostTopology> parseTopology(std::string_view text) {
  HostTopology topology;
  for (const std::string& line : split(text, '\n')) {
    if (!line.empty() && !readLine(split(line, ' '), topology))
      return Status(Code::kInvalidArgument, "'" + line + "' is not a line of a topology");
  }
  if (topology.allowed.empty() || topology.nodes.empty())
    return Status(Code::kInvalidArgument, "a topology without CPUs or memory nodes");
  return topology;
}

}  // namespace pop::agent
