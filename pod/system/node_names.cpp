// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "common/base/text.h"
#include "pod/system/system_text.h"

namespace pop::pod {
namespace {

struct Group {
  std::string_view prefix;
  int first;
  int count;
};

std::vector<Group> groupsOf(const PodSpec& spec) {
  const int ipus = spec.ipuCount();
  const int gateways = spec.ilds() * spec.gatewaysPerIld();
  const bool switched = spec.ilds() > 1 && spec.shape.gateways == GatewayTopology::kSwitched;
  const int switches = spec.wiring ? spec.wiring->switches : switched ? spec.gatewaysPerIld() : 0;
  return {{"ipu", 0, ipus}, {"gw", ipus, gateways}, {"sw", ipus + gateways, switches}};
}

}  // namespace

Result<int> nodeNamed(const PodSpec& spec, std::string_view name) {
  std::string known;
  for (const Group& group : groupsOf(spec)) {
    if (group.count == 0) continue;
    known += (known.empty() ? "" : ", ") + std::string(group.prefix) + "0 to " + std::string(group.prefix) +
             std::to_string(group.count - 1);
    if (!name.starts_with(group.prefix)) continue;
    const Result<std::int64_t> number = parseInteger(name.substr(group.prefix.size()));
    if (number.ok() && number.value() >= 0 && number.value() < group.count)
      return group.first + static_cast<int>(number.value());
  }
  return invalidArgument("there is no node " + inQuotes(name) + ": the system has " + known);
}

std::string nodeName(const PodSpec& spec, int node) {
  for (const Group& group : groupsOf(spec)) {
    if (node < group.first + group.count)
      return std::string(group.prefix) + std::to_string(node - group.first);
  }
  return "node" + std::to_string(node);
}

}  // namespace pop::pod
