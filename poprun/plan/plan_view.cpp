// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/plan_view.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/text.h"
#include "controller/core/instance_env.h"

namespace pop {
namespace {

// Placeholders for ports: "<free port 2>", or "<free port 2 of node1>" if there are several hosts.
std::vector<HostAddress> placeholderAddresses(const model::JobSpec& spec, const InstanceEnvs& envs) {
  std::vector<HostAddress> addresses;
  for (int host = 0; host < static_cast<int>(spec.hosts.size()); ++host) {
    const std::string& name = spec.hosts[static_cast<std::size_t>(host)].name;
    HostAddress& address = addresses.emplace_back();
    address.address = "<address of " + name + '>';
    for (int port = 1; port <= envs.portsOn(host); ++port) {
      address.ports.push_back("<free port " + std::to_string(port) +
                              (spec.hosts.size() > 1 ? " of " + name : "") + '>');
    }
  }
  return addresses;
}

InstanceOrder placeholderOrder(const model::JobSpec& spec, const InstanceEnvs& envs,
                               const model::InstancePlacement& placement) {
  InstanceOrder order = envs.order(placement, "<job id>", 0);
  if (isOfPartition(spec)) order.env.system = "<system of the partition>";
  order.env.agent_socket = "<agent socket>";
  if (order.env.executable_cache_path.empty()) order.env.executable_cache_path = "<fresh directory>";
  return order;
}

// Like the agent: the number of the instance's CPUs, unless the user has set the variable.
void addThreads(PlannedInstance& instance) {
  const std::string name = "OMP_NUM_THREADS";
  const bool set = std::any_of(instance.environment.begin(), instance.environment.end(),
                               [&name](const contract::Variable& each) { return each.first == name; });
  if (set) return;
  instance.environment.emplace_back(
      name, instance.binding ? std::to_string(instance.binding->threads) : "<CPUs of its binding>");
}

// Moves variables common to all instances to the view.
void splitOffCommon(PlanView& view) {
  struct Seen {
    std::string value;
    std::size_t count = 0;
  };
  std::map<std::string, Seen> seen;
  for (const PlannedInstance& instance : view.instances) {
    for (const auto& [name, value] : instance.environment) {
      Seen& entry = seen[name];
      if (entry.count == 0) entry.value = value;
      if (entry.value == value) ++entry.count;
    }
  }
  const auto isCommon = [&](const contract::Variable& variable) {
    return seen[variable.first].count == view.instances.size();
  };
  const std::vector<contract::Variable>& first = view.instances.front().environment;
  std::copy_if(first.begin(), first.end(), std::back_inserter(view.environment), isCommon);
  for (PlannedInstance& instance : view.instances) std::erase_if(instance.environment, isCommon);
}

std::string reasonForHosts(const model::JobSpec& spec) {
  const bool by_slots = std::any_of(spec.hosts.begin(), spec.hosts.end(),
                                    [](const model::Host& each) { return each.slots > 0; });
  return counted(spec.num_instances, "instance") + " on " +
         counted(static_cast<std::int64_t>(spec.hosts.size()), "host") + ": " +
         (by_slots ? "as many on each as it has slots, in the hosts' order"
                   : "divided evenly, neighbours on the same host");
}

std::string reasonForReplicas(const model::JobSpec& spec) {
  return counted(spec.num_replicas, "replica") + " over " + counted(spec.num_instances, "instance") + ": " +
         std::to_string(spec.num_replicas / spec.num_instances) +
         (model::uniformReplicas(spec)
              ? " each, in order"
              : " each, and one more for the first " +
                    std::to_string(spec.num_replicas % spec.num_instances) + " (--uneven-replicas)");
}

std::string reasonForIlds(const model::JobSpec& spec,
                          const std::vector<model::InstancePlacement>& placement) {
  std::set<int> ilds;
  for (const model::InstancePlacement& each : placement) ilds.insert(each.ild);
  return counted(model::partitionIpus(spec), "IPU") + " in " +
         counted(static_cast<std::int64_t>(ilds.size()), "IPU-Link domain") + ": " +
         (spec.num_ilds ? "--num-ilds " + std::to_string(*spec.num_ilds)
                        : "a domain has at most " + std::to_string(model::kMaxIldIpus) + " IPUs") +
         ", and an instance lies in one domain";
}

std::vector<std::string> reasonsFor(const model::JobSpec& spec, const PlanView& view,
                                    const HostBindings& bindings) {
  std::vector<std::string> reasons{reasonForHosts(spec), reasonForReplicas(spec),
                                   reasonForIlds(spec, view.placement)};
  const std::int64_t ipus = std::int64_t{spec.num_replicas} * spec.ipus_per_replica;
  if (ipus != model::partitionIpus(spec)) {
    reasons.push_back("partition of " + counted(model::partitionIpus(spec), "IPU") + " for " +
                      std::to_string(ipus) + ": the size of a partition is a power of two");
  }
  for (std::size_t host = 0; host < spec.hosts.size(); ++host) {
    if (host < bindings.size() && bindings[host]) continue;
    reasons.push_back("CPUs and memory on " + spec.hosts[host].name +
                      ": decided on the host, whose topology " + "is not known here");
  }
  if (spec.env_families != contract::allEnvFamilies()) {
    reasons.push_back("environment for " + contract::envFamiliesText(spec.env_families) +
                      ": --env-for; PopDist's own variables are always set");
  }
  return reasons;
}

}  // namespace

bool isOfPartition(const model::JobSpec& spec) {
  return spec.system.empty() && spec.partition != model::PartitionRequest();
}

Result<PlanView> viewPlan(const model::JobSpec& spec, const HostBindings& bindings) {
  PlanView view{.placement = model::place(spec)};
  const InstanceEnvs envs(spec, view.placement);
  contract::Rendezvous rendezvous = envs.rendezvous(placeholderAddresses(spec, envs));
  rendezvous.own_address = "<address of the host>";
  rendezvous.pmix_port = "<port of PMIx>";
  rendezvous.mpi_directory = "<directory of MPI>";
  if (!rendezvous.tf_cluster.empty())
    view.tf_cluster = std::exchange(rendezvous.tf_cluster, kTfClusterPlaceholder);
  const contract::PoplarTarget poplar = envs.poplarTarget();
  for (const model::InstancePlacement& placement : view.placement) {
    const InstanceOrder order = placeholderOrder(spec, envs, placement);
    PlannedInstance instance{.placement = placement, .program = order.program};
    POP_ASSIGN_OR_RETURN(
        instance.environment,
        contract::renderEnvironment(
            {.env = order.env,
             .place = order.place,
             .rendezvous = rendezvous,
             .poplar = poplar,
             .families = spec.env_families,
             .job = spec.environment,
             .program = spec.programs.at(static_cast<std::size_t>(order.program)).environment}));
    const auto host = static_cast<std::size_t>(placement.host);
    if (host < bindings.size() && bindings[host])
      instance.binding = bindings[host]->instances.at(static_cast<std::size_t>(placement.local_instance));
    if (spec.env_families.contains(contract::EnvFamily::kOpenMp)) addThreads(instance);
    view.instances.push_back(std::move(instance));
  }
  splitOffCommon(view);
  view.reasons = reasonsFor(spec, view, bindings);
  for (const auto& host : bindings) {
    if (host) view.warnings.insert(view.warnings.end(), host->warnings.begin(), host->warnings.end());
  }
  return view;
}

}  // namespace pop
