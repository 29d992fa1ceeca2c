// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/job_builder.h"

#include "common/base/text.h"
#include "common/model/host_list.h"
#include "libpopdist/src/pod/model/pod_spec.h"
#include "libpopdist/src/pod/model/replica_layout.h"

namespace pop {
namespace {

void buildHosts(const Options& options, const std::string& own_host_name, BuiltJob& built) {
  Result<std::vector<std::string>> hosts = model::parseHostList(options.host);
  if (!hosts.ok()) {
    built.mistakes.push_back("--host: " + hosts.status().message());
    return;
  }
  built.spec.hosts = std::move(*hosts);
  for (const std::string& host : built.spec.hosts) {
    if (model::isThisHost(host, own_host_name)) continue;
    built.mistakes.push_back("--host " + host +
                             ": unknown host; this version starts instances on this host only (" +
                             "localhost, or " + own_host_name + ")");
  }
  if (built.spec.hosts.size() > 1)
    built.mistakes.emplace_back("--host: this version takes a single host, this one");
}

// The Pod that the job's replicas run on. Needs numbers that are right in themselves.
void choosePod(const Options& options, BuiltJob& built) {
  const int ipus = model::partitionIpus(built.spec);
  Result<popdist::pod::PodSpec> pod = options.system.empty() ? popdist::pod::smallestPodFor(ipus)
                                                             : popdist::pod::podSpecByName(options.system);
  if (!pod.ok()) {
    built.mistakes.push_back((options.system.empty() ? "" : "--system: ") + pod.status().message());
    return;
  }
  if (pod->ipuCount() < ipus) {
    built.mistakes.push_back("--system " + pod->name + " has " + counted(pod->ipuCount(), "IPU") + ", but " +
                             counted(built.spec.num_replicas, "replica") + " on " +
                             counted(built.spec.ipus_per_replica, "IPU") + " each need a partition of " +
                             std::to_string(ipus) + ": use a larger --system or fewer --num-replicas");
  }
  const Status fits = popdist::pod::validate({*pod, built.spec.num_replicas, built.spec.ipus_per_replica});
  if (pod->ipuCount() >= ipus && !fits.ok()) built.mistakes.push_back("--num-replicas: " + fits.message());
  built.spec.system = pod->name;
}

void checkOutputInstance(const Options& options, BuiltJob& built) {
  if (!options.only_output_from_instance) return;
  const int instance = *options.only_output_from_instance;
  if (instance >= 0 && instance < options.num_instances) return;
  built.mistakes.push_back("--only-output-from-instance " + std::to_string(instance) +
                           ": there are only instances 0 to " + std::to_string(options.num_instances - 1) +
                           " (--num-instances)");
}

}  // namespace

BuiltJob buildJob(const Options& options, const std::string& own_host_name) {
  BuiltJob built;
  built.spec.num_instances = options.num_instances;
  built.spec.num_replicas = options.num_replicas.value_or(options.num_instances);
  built.spec.ipus_per_replica = options.ipus_per_replica;
  built.spec.offline_mode = options.offline_mode;
  built.spec.command = options.command;
  buildHosts(options, own_host_name, built);

  const std::vector<std::string> mistakes = model::findMistakes(built.spec);
  built.mistakes.insert(built.mistakes.end(), mistakes.begin(), mistakes.end());
  const bool numbers_hold = mistakes.empty() || (mistakes.size() == 1 && options.command.empty());
  if (numbers_hold) choosePod(options, built);
  if (options.num_instances >= 1) checkOutputInstance(options, built);
  return built;
}

}  // namespace pop
