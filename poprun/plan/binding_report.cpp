// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/binding_report.h"

#include <cstddef>

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

std::string bindingReport(const std::vector<PlacedInstance>& instances) {
  std::string text;
  for (std::size_t index = 0; index < instances.size(); ++index) {
    text += "poprun: instance " + std::to_string(index) + " on " + instances[index].host + ": " +
            bindingText(instances[index].binding) + '\n';
  }
  return text;
}

}  // namespace pop
