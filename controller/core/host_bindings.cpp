// SPDX-License-Identifier: Apache-2.0
#include "controller/core/host_bindings.h"

#include <cstddef>
#include <map>
#include <utility>

#include "common/base/text.h"

namespace pop {

Result<std::vector<model::Bindings>> bindHosts(const model::JobSpec& spec, const InstanceEnvs& envs,
                                               const std::vector<model::HostTopology>& topologies) {
  std::vector<model::Bindings> all;
  for (std::size_t host = 0; host < topologies.size(); ++host) {
    Result<model::Bindings> bindings =
        model::bind(topologies[host], spec.binding, envs.instancesOn(static_cast<int>(host)));
    if (!bindings.ok()) {
      return Status(bindings.code(),
                    "cannot be bound on host " + spec.hosts[host].name + ": " + bindings.status().message());
    }
    all.push_back(std::move(*bindings));
  }
  return all;
}

std::vector<std::string> warningsOf(const model::JobSpec& spec,
                                    const std::vector<model::Bindings>& bindings) {
  std::map<std::string, std::vector<std::string>> hosts_of;
  for (std::size_t host = 0; host < bindings.size(); ++host) {
    for (const std::string& warning : bindings[host].warnings)
      hosts_of[warning].push_back(spec.hosts[host].name);
  }
  std::vector<std::string> warnings;
  for (const auto& [warning, hosts] : hosts_of) {
    const std::string others =
        hosts.size() > 1 ? " and " + counted(static_cast<std::int64_t>(hosts.size()) - 1, "other host") : "";
    warnings.push_back("on host " + hosts.front() + others + ": " + warning);
  }
  return warnings;
}

}  // namespace pop
