// SPDX-License-Identifier: Apache-2.0
#include "pod/system/what_if.h"

#include <algorithm>

#include "common/base/text.h"
#include "pod/system/link_configuration.h"
#include "pod/system/system_text.h"
#include "pod/system/topology.h"

namespace pop::pod {
namespace {

constexpr std::size_t kMostRemoved = 64;

}  // namespace

Status removeLinks(PodSpec& spec, std::string_view node, std::string_view other) {
  POP_ASSIGN_OR_RETURN(const int a, nodeNamed(spec, node));
  POP_ASSIGN_OR_RETURN(const int b, nodeNamed(spec, other));
  if (spec.removed_links.size() >= kMostRemoved)
    return {Code::kResourceExhausted, "at most " + std::to_string(kMostRemoved) + " links can be removed"};
  const Topology before(spec);
  const auto joins = [&, b](int id) { return before.links()[static_cast<std::size_t>(id)].to == b; };
  if (std::ranges::none_of(before.linksFrom(a), joins))
    return invalidArgument("there is no link between " + std::string(node) + " and " + std::string(other));
  spec.removed_links.emplace_back(a, b);
  return {};
}

Status setSpeed(PodSpec& spec, std::string_view ipu, double factor) {
  POP_ASSIGN_OR_RETURN(const int node, nodeNamed(spec, ipu));
  if (node >= spec.ipuCount()) return invalidArgument(std::string(ipu) + " is no IPU");
  if (factor < 1e-3 || factor > 1e3)
    return invalidArgument(numberText(factor) + " is not from 0.001 to 1000");
  if (std::ranges::find(spec.speed_of_ipu, node, &std::pair<int, double>::first) != spec.speed_of_ipu.end())
    return invalidArgument(std::string(ipu) + " has a speed already");
  spec.speed_of_ipu.emplace_back(node, factor);
  return {};
}

Result<IldTopology> ildTopologyNamed(std::string_view name) {
  for (const IldTopology each : {IldTopology::kMesh, IldTopology::kTorus, IldTopology::kBarleyTwist}) {
    if (name == nameOf(each)) return each;
  }
  return invalidArgument(inQuotes(name) + ": use mesh, torus or barley-twist");
}

Result<PodSpec> changed(PodSpec spec, const WhatIf& what_if) {
  if (what_if.topology && spec.wiring)
    return invalidArgument(spec.name + " has nodes and links of its own, and so no topology");
  if (what_if.topology) spec.shape.topology = *what_if.topology;
  for (const auto& [node, other] : what_if.removed_links) POP_RETURN_IF_ERROR(removeLinks(spec, node, other));
  for (const auto& [ipu, factor] : what_if.speeds) POP_RETURN_IF_ERROR(setSpeed(spec, ipu, factor));
  if (!isConnected(Topology(spec)))
    return invalidArgument("some IPUs of " + spec.name + " are then not joined to the others");
  return spec;
}

}  // namespace pop::pod
