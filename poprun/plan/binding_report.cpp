// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/binding_report.h"

namespace pop {
namespace {

std::string listed(const char* noun, const model::CpuSet& set) {
  return std::string(noun) + (set.size() == 1 ? " " : "s ") + set.text();
}

}  // namespace

std::string bindingText(const model::Binding& binding) {
  std::string text = binding.cpus.empty() ? "not bound" : listed("cpu", binding.cpus);
  if (!binding.memory_nodes.empty()) text += ", " + listed("memory node", binding.memory_nodes);
  return text + " (" + binding.reason + ')';
}

std::string bindingReport(const model::JobSpec& spec, const std::vector<model::InstancePlacement>& placement,
                          const std::vector<model::Bindings>& bindings) {
  std::string text;
  for (const model::InstancePlacement& each : placement) {
    const auto host = static_cast<std::size_t>(each.host);
    const model::Binding& binding = bindings[host].instances[static_cast<std::size_t>(each.local_instance)];
    text += "poprun: instance " + std::to_string(each.instance) + " on " + spec.hosts[host].name + ": " +
            bindingText(binding) + '\n';
  }
  return text;
}

}  // namespace pop
