// SPDX-License-Identifier: Apache-2.0
// --dry-run=json. docs/reference/dry_run.md defines which parts are stable.
#include "common/base/json.h"
#include "common/base/text.h"
#include "poprun/plan/explain.h"

namespace pop {
namespace {

constexpr int kSchemaVersion = 1;

// Puts each element on its own line, so that the text can be searched.
std::string array(const std::vector<std::string>& elements) {
  return elements.empty() ? "[]" : "[\n" + join(elements, ",\n") + "\n]";
}

std::string textArray(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  quoted.reserve(texts.size());
  for (const std::string& text : texts) quoted.push_back(jsonQuoted(text));
  return '[' + join(quoted, ",") + ']';
}

std::string variablesJson(const std::vector<contract::Variable>& variables) {
  JsonObject object;
  for (const auto& [name, value] : variables) object.text(name, value);
  return object.str();
}

std::string span(int first, int count) {
  return JsonObject().number("first", first).number("count", count).str();
}

std::string programsJson(const model::JobSpec& spec) {
  std::vector<std::string> programs;
  int first = 0;
  for (const model::Program& program : spec.programs) {
    programs.push_back(JsonObject()
                           .json("command", textArray(program.command))
                           .text("working_directory", program.working_directory)
                           .json("instances", span(first, program.num_instances))
                           .str());
    first += program.num_instances;
  }
  return array(programs);
}

std::string hostsJson(const model::JobSpec& spec, const PlanView& view) {
  std::vector<int> instances(spec.hosts.size());
  for (const model::InstancePlacement& each : view.placement)
    ++instances[static_cast<std::size_t>(each.host)];
  std::vector<std::string> hosts;
  for (std::size_t host = 0; host < spec.hosts.size(); ++host) {
    JsonObject object;
    object.text("name", spec.hosts[host].name).number("num_instances", instances[host]);
    hosts.push_back(object.number("slots", spec.hosts[host].slots).str());
  }
  return array(hosts);
}

std::string partitionJson(const model::JobSpec& spec) {
  JsonObject object;
  object.number("num_ipus", model::partitionIpus(spec));
  if (spec.partition.name.empty()) return object.json("name", "null").json("server", "null").str();
  return object.text("name", spec.partition.name)
      .text("server", spec.partition.server_host + ':' + std::to_string(spec.partition.server_port))
      .str();
}

std::string bindingJson(const std::optional<model::Binding>& binding) {
  if (!binding) return "null";
  return JsonObject()
      .text("cpus", binding->cpus.text())
      .text("memory_nodes", binding->memory_nodes.text())
      .number("threads", binding->threads)
      .text("reason", binding->reason)
      .str();
}

std::string instanceJson(const model::JobSpec& spec, const PlannedInstance& instance) {
  const model::InstancePlacement& placement = instance.placement;
  const int ipus = spec.ipus_per_replica;
  return JsonObject()
      .number("instance", placement.instance)
      .number("program", instance.program)
      .text("host", spec.hosts[static_cast<std::size_t>(placement.host)].name)
      .number("local_instance", placement.local_instance)
      .json("replicas", span(placement.first_replica, placement.num_replicas))
      .json("ipus", span(placement.first_replica * ipus, placement.num_replicas * ipus))
      .number("ild", placement.ild)
      .json("binding", bindingJson(instance.binding))
      .json("environment", variablesJson(instance.environment))
      .str();
}

}  // namespace

Result<std::string> explainPlanJson(const model::JobSpec& spec, const HostBindings& bindings) {
  POP_ASSIGN_OR_RETURN(const PlanView view, viewPlan(spec, bindings));
  std::vector<std::string> instances;
  for (const PlannedInstance& instance : view.instances) instances.push_back(instanceJson(spec, instance));
  JsonObject plan;
  plan.number("version", kSchemaVersion)
      .json("programs", programsJson(spec))
      .json("hosts", hostsJson(spec, view))
      .number("num_instances", spec.num_instances)
      .number("num_replicas", spec.num_replicas)
      .number("ipus_per_replica", spec.ipus_per_replica)
      .json("system", spec.system.empty() ? "null" : jsonQuoted(spec.system))
      .boolean("offline_mode", spec.offline_mode)
      .json("partition", partitionJson(spec))
      .json("copied_paths", textArray(spec.copies.paths))
      .boolean("ssh_key_distributed", spec.copies.ssh_key)
      .json("reasons", textArray(view.reasons))
      .json("warnings", textArray(view.warnings))
      .json("tf_cluster", view.tf_cluster.empty() ? "null" : jsonQuoted(view.tf_cluster))
      .json("environment", variablesJson(view.environment))
      .json("instances", array(instances));
  return plan.str() + '\n';
}

}  // namespace pop
