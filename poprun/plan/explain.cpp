// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/explain.h"

#include <algorithm>

#include "common/base/text.h"
#include "pod/system/job_system.h"
#include "poprun/plan/binding_report.h"
#include "poprun/plan/topology_table.h"

namespace pop {
namespace {

constexpr std::size_t kLineColumns = 110;
constexpr const char* kIndent = "    ";

// Unchanged, or in quotes if blanks would make its end ambiguous.
std::string shown(const std::string& text) {
  const bool plain = text.find(' ') == std::string::npos && printable(text) == text;
  return plain ? text : inQuotes(text);
}

std::string shown(const contract::Variable& variable) {
  const bool placeholder = variable.second.starts_with('<');  // its blanks are ours
  return printable(variable.first) + '=' +
         (placeholder ? printable(variable.second) : shown(variable.second));
}

std::string range(const char* noun, int first, int count) {
  if (count == 1) return noun + (' ' + std::to_string(first));
  return noun + ("s " + std::to_string(first)) + '-' + std::to_string(first + count - 1);
}

std::string programsText(const model::JobSpec& spec) {
  std::string text;
  int first = 0;
  for (const model::Program& program : spec.programs) {
    std::vector<std::string> words;
    std::transform(program.command.begin(), program.command.end(), std::back_inserter(words),
                   [](const std::string& word) { return word.empty() ? "''" : shown(word); });
    text += "program";
    if (spec.programs.size() > 1) text += " of " + range("instance", first, program.num_instances);
    text += ": " + join(words, " ");
    if (!program.working_directory.empty()) text += " (in " + printable(program.working_directory) + ')';
    text += '\n';
    first += program.num_instances;
  }
  return text;
}

std::string systemName(const model::JobSpec& spec) {
  if (!spec.system.empty()) {
    const Result<pod::PodSpec> known = pod::jobSystem(spec.system, "system", 1);
    return printable(known.ok() ? known.value().name : spec.system);
  }
  return isOfPartition(spec) ? "that of the partition" : "none is large enough";
}

std::string systemText(const model::JobSpec& spec) {
  std::string text = "system: " + systemName(spec) +
                     (spec.offline_mode ? " (offline: no IPU is attached)" : "") + ", partition of " +
                     counted(model::partitionIpus(spec), "IPU");
  if (!spec.partition.name.empty()) {
    text += ", " + inQuotes(spec.partition.name) + " of the V-IPU server " +
            printable(spec.partition.server_host) + ':' + std::to_string(spec.partition.server_port);
  }
  return text + '\n';
}

// Several on a line, because most are short and a job may have hundreds of instances.
std::string wrapped(const std::vector<contract::Variable>& variables) {
  std::string text;
  std::string line;
  for (const contract::Variable& variable : variables) {
    const std::string word = shown(variable);
    if (!line.empty() && line.size() + 1 + word.size() > kLineColumns) {
      text += line + '\n';
      line.clear();
    }
    line += line.empty() ? kIndent + word : ' ' + word;
  }
  return line.empty() ? text : text + line + '\n';
}

std::string instanceText(const model::JobSpec& spec, const PlannedInstance& instance) {
  const model::InstancePlacement& placement = instance.placement;
  const int ipus = spec.ipus_per_replica;
  std::string text = "instance " + std::to_string(placement.instance) + " on " +
                     spec.hosts[static_cast<std::size_t>(placement.host)].name + ": " +
                     range("replica", placement.first_replica, placement.num_replicas) + " on " +
                     range("IPU", placement.first_replica * ipus, placement.num_replicas * ipus) +
                     ", IPU-Link domain " + std::to_string(placement.ild) + '\n';
  if (instance.binding) {
    text +=
        kIndent + bindingText(*instance.binding) + ", " + counted(instance.binding->threads, "thread") + '\n';
  }
  return text + wrapped(instance.environment);
}

std::string linesText(const char* title, const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  std::string text = std::string(title) + '\n';
  for (const std::string& line : lines) text += kIndent + printable(line) + '\n';
  return text;
}

}  // namespace

Result<std::string> explainPlan(const model::JobSpec& spec, const HostBindings& bindings) {
  POP_ASSIGN_OR_RETURN(const PlanView view, viewPlan(spec, bindings));
  std::string text = programsText(spec) + systemText(spec) + topologyTable(spec, view.placement);
  text += linesText("why:", view.reasons);
  text += linesText("copied to every other host before the start:", spec.copies.paths);
  if (spec.copies.ssh_key) text += "the user's ssh key is installed on every other host\n";
  text += linesText("warnings:", view.warnings);
  for (const PlannedInstance& instance : view.instances) text += instanceText(spec, instance);

  std::vector<std::string> common;
  for (const contract::Variable& variable : view.environment) common.push_back(shown(variable));
  text += linesText("environment of all instances:", common);
  text += "decided at the start: the values in <angle brackets>\n";
  if (!view.tf_cluster.empty())
    text += kIndent + std::string(kTfClusterPlaceholder) + ": " + view.tf_cluster + '\n';
  return text;
}

}  // namespace pop
