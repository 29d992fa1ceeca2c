// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/job_builder.h"

#include <algorithm>

#include "common/base/text.h"
#include "common/model/host_list.h"
#include "libpopdist/src/pod/model/pod_spec.h"
#include "libpopdist/src/pod/model/replica_layout.h"
#include "poprun/plan/forwarded_environment.h"

namespace pop {
namespace {

void buildHosts(const Options& options, const std::string& own_host_name, BuiltJob& built) {
  Result<std::vector<std::string>> hosts =
      model::parseHostList(options.host.empty() ? "localhost" : options.host);
  if (!hosts.ok()) {
    built.mistakes.push_back("--host: " + hosts.status().message());
    return;
  }
  built.spec.hosts.clear();
  for (const std::string& host : *hosts) {
    built.spec.hosts.push_back({host});
    if (model::isThisHost(host, own_host_name)) continue;
    built.mistakes.push_back("--host " + host +
                             ": unknown host; this version starts instances on this host only (" +
                             "localhost, or " + own_host_name + ")");
  }
  if (built.spec.hosts.size() > 1)
    built.mistakes.emplace_back("--host: this version takes a single host, this one");
}

// The Pod that the user names: it must hold the replicas.
void checkPod(const std::string& system, BuiltJob& built) {
  const Result<popdist::pod::PodSpec> pod = popdist::pod::podSpecByName(system);
  if (!pod.ok()) {
    built.mistakes.push_back("--system: " + pod.status().message());
    return;
  }
  const Status fits =
      popdist::pod::validate({pod.value(), built.spec.num_replicas, built.spec.ipus_per_replica});
  if (!fits.ok()) built.mistakes.push_back("--system " + pod.value().name + ": " + fits.message());
  built.spec.system = pod.value().name;
}

// The smallest Pod that holds the replicas. Programs that use none may have more instances than any Pod has
// IPUs, so that there is none is no mistake yet: attaching to it is.
void choosePod(BuiltJob& built) {
  const Result<popdist::pod::PodSpec> pod = popdist::pod::smallestPodFor(model::partitionIpus(built.spec));
  if (pod.ok()) built.spec.system = pod.value().name;
}

void checkOutputInstance(const Options& options, BuiltJob& built) {
  if (!options.only_output_from_instance) return;
  const int instance = *options.only_output_from_instance;
  if (instance >= 0 && instance < built.spec.num_instances) return;
  built.mistakes.push_back("--only-output-from-instance " + std::to_string(instance) +
                           ": there are only instances 0 to " + std::to_string(built.spec.num_instances - 1) +
                           " (--num-instances)");
}

}  // namespace

int numInstances(const Options& options) {
  int sum = 0;
  for (const ProgramOptions& program : options.programs) sum += program.num_instances.value_or(1);
  return sum;
}

BuiltJob buildJob(const Options& options, const Surroundings& here) {
  BuiltJob built;
  built.spec.num_instances = numInstances(options);
  built.spec.num_replicas = options.num_replicas.value_or(std::max(built.spec.num_instances, 1));
  built.spec.ipus_per_replica = options.ipus_per_replica;
  built.spec.offline_mode = options.offline_mode;
  built.spec.binding = options.binding;
  built.spec.env_families = options.env_families;
  built.spec.tf_tasks = options.tf_tasks;
  built.spec.environment = forwardedEnvironment(here.variable);
  for (const ProgramOptions& program : options.programs) {
    model::Program& added = built.spec.programs.emplace_back(
        model::Program{.command = program.command, .num_instances = program.num_instances.value_or(1)});
    for (const std::string& variable : program.environment) {
      const std::size_t equals = variable.find('=');
      const std::string name = variable.substr(0, equals);
      if (equals != std::string::npos) {
        added.environment.emplace_back(name, variable.substr(equals + 1));
      } else if (const char* value = here.variable(name.c_str())) {
        added.environment.emplace_back(name, value);
      }
    }
  }
  buildHosts(options, here.host_name, built);

  const std::vector<std::string> mistakes = model::findMistakes(built.spec);
  built.mistakes.insert(built.mistakes.end(), mistakes.begin(), mistakes.end());
  const bool numbers_hold =
      mistakes.empty() || (mistakes.size() == 1 && options.programs.front().command.empty());
  if (numbers_hold) options.system.empty() ? choosePod(built) : checkPod(options.system, built);
  if (built.spec.num_instances >= 1) checkOutputInstance(options, built);
  return built;
}

}  // namespace pop
