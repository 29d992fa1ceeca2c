// SPDX-License-Identifier: Apache-2.0
#include "controller/core/instance_env.h"

#include <algorithm>
#include <array>

#include "common/base/check.h"

namespace pop {
namespace {

using contract::EnvFamily;

// The families that need a port on the host of instance 0, in the order of allocation.
struct SharedPort {
  EnvFamily family;
  std::string contract::Rendezvous::*port;
};
constexpr std::array kSharedPorts{
    SharedPort{EnvFamily::kPyTorch, &contract::Rendezvous::master_port},
    SharedPort{EnvFamily::kJax, &contract::Rendezvous::jax_port},
    SharedPort{EnvFamily::kHorovod, &contract::Rendezvous::horovod_port},
};

}  // namespace

InstanceEnvs::InstanceEnvs(const model::JobSpec& spec, const std::vector<model::InstancePlacement>& placement)
    : spec_(spec), placement_(placement), instances_on_(spec.hosts.size()) {
  for (const model::InstancePlacement& each : placement_) {
    ++instances_on_[static_cast<std::size_t>(each.host)];
    const auto local = static_cast<std::size_t>(each.local_instance);
    if (local >= cross_size_.size()) cross_size_.resize(local + 1);
    cross_rank_.push_back(cross_size_[local]++);  // hosts come in order
  }
}

int InstanceEnvs::portsOfInstances(int host) const {
  return wants(EnvFamily::kTensorFlow) ? instancesOn(host) : 0;
}

int InstanceEnvs::portsOn(int host) const {
  if (host != placement_.front().host) return portsOfInstances(host);
  return portsOfInstances(host) +
         static_cast<int>(std::count_if(kSharedPorts.begin(), kSharedPorts.end(),
                                        [this](const SharedPort& shared) { return wants(shared.family); }));
}

contract::Rendezvous InstanceEnvs::rendezvous(std::span<const HostAddress> hosts) const {
  POP_CHECK(hosts.size() == spec_.hosts.size());
  const auto hostAt = [hosts](int host) -> const HostAddress& {
    return hosts[static_cast<std::size_t>(host)];
  };
  const int first = placement_.front().host;
  contract::Rendezvous result{.tf_chief = spec_.tf_tasks.chief,
                              .tf_evaluator = spec_.tf_tasks.evaluator,
                              .master_address = hostAt(first).address};
  auto next_port = static_cast<std::size_t>(portsOfInstances(first));
  for (const SharedPort& shared : kSharedPorts) {
    if (wants(shared.family)) result.*shared.port = hostAt(first).ports.at(next_port++);
  }
  if (!wants(EnvFamily::kTensorFlow)) return result;
  std::vector<std::string> endpoints;
  for (const model::InstancePlacement& each : placement_) {
    const HostAddress& host = hostAt(each.host);
    endpoints.push_back(
        contract::endpoint(host.address, host.ports.at(static_cast<std::size_t>(each.local_instance))));
  }
  result.tf_cluster = contract::tfCluster(endpoints, result.tf_chief, result.tf_evaluator);
  return result;
}

contract::PoplarTarget InstanceEnvs::poplarTarget() const {
  const int ipus = model::partitionIpus(spec_);
  const int ilds = spec_.num_ilds.value_or((ipus + model::kMaxIldIpus - 1) / model::kMaxIldIpus);
  contract::PoplarTarget target{.ild_ipus = std::clamp(ipus / std::max(ilds, 1), 1, model::kMaxIldIpus)};
  if (spec_.partition.name.empty()) return target;
  target.partition = spec_.partition.name;
  target.server_host = spec_.partition.server_host;
  target.server_port = spec_.partition.server_port;
  target.server_timeout_seconds = spec_.partition.server_timeout_seconds;
  return target;
}

InstanceOrder InstanceEnvs::order(const model::InstancePlacement& placement, const std::string& job_id,
                                  int restart_count) const {
  InstanceOrder order{.env = envOf(placement),
                      .place = placeOf(placement),
                      .program = model::programOf(spec_, placement.instance)};
  order.env.job_id = job_id;
  order.env.restart_count = restart_count;
  return order;
}

contract::InstanceEnv InstanceEnvs::envOf(const model::InstancePlacement& placement) const {
  return {.num_total_replicas = spec_.num_replicas,
          .num_ipus_per_replica = spec_.ipus_per_replica,
          .num_local_replicas = placement.num_replicas,
          .uniform_replicas = model::uniformReplicas(spec_),
          .replica_index_offset = placement.first_replica,
          .num_instances = spec_.num_instances,
          .instance_index = placement.instance,
          .num_local_instances = instancesOn(placement.host),
          .local_instance_index = placement.local_instance,
          .executable_cache_path = spec_.executable_cache_path,
          .system = spec_.system,
          .offline = spec_.offline_mode};
}

contract::InstancePlace InstanceEnvs::placeOf(const model::InstancePlacement& placement) const {
  const auto rank = [&](int instance) { return cross_rank_.at(static_cast<std::size_t>(instance)); };
  // Every host that counts has a first instance.
  return {.host_name = spec_.hosts[static_cast<std::size_t>(placement.host)].name,
          .host_index = rank(placement.instance - placement.local_instance),
          .num_hosts = cross_size_.front(),
          .cross_rank = rank(placement.instance),
          .cross_size = cross_size_.at(static_cast<std::size_t>(placement.local_instance))};
}

}  // namespace pop
