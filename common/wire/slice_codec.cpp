// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes slices of jobs and topologies of hosts.
#include <set>
#include <utility>

#include "common/base/text.h"
#include "common/wire/agent_codec.h"
#include "common/wire/codec_parts.h"

namespace pop::wire {
namespace {

void encodeEnv(const contract::InstanceEnv& env, v1::InstanceEnv* into) {
  into->set_num_total_replicas(env.num_total_replicas);
  into->set_num_ipus_per_replica(env.num_ipus_per_replica);
  into->set_num_local_replicas(env.num_local_replicas);
  into->set_uniform_replicas(env.uniform_replicas);
  into->set_replica_index_offset(env.replica_index_offset);
  into->set_num_instances(env.num_instances);
  into->set_instance_index(env.instance_index);
  into->set_num_local_instances(env.num_local_instances);
  into->set_local_instance_index(env.local_instance_index);
  into->set_job_id(env.job_id);
  into->set_executable_cache_path(env.executable_cache_path);
  into->set_system(env.system);
  into->set_offline(env.offline);
  into->set_restart_count(env.restart_count);
}

contract::InstanceEnv decodeEnv(const v1::InstanceEnv& from) {
  return {.num_total_replicas = from.num_total_replicas(),
          .num_ipus_per_replica = from.num_ipus_per_replica(),
          .num_local_replicas = from.num_local_replicas(),
          .uniform_replicas = from.uniform_replicas(),
          .replica_index_offset = from.replica_index_offset(),
          .num_instances = from.num_instances(),
          .instance_index = from.instance_index(),
          .num_local_instances = from.num_local_instances(),
          .local_instance_index = from.local_instance_index(),
          .job_id = from.job_id(),
          .agent_socket = {},  // the agent's own to say
          .executable_cache_path = from.executable_cache_path(),
          .system = from.system(),
          .offline = from.offline(),
          .restart_count = from.restart_count()};
}

void encodePlace(const contract::InstancePlace& place, v1::InstancePlace* into) {
  into->set_host_name(place.host_name);
  into->set_host_index(place.host_index);
  into->set_num_hosts(place.num_hosts);
  into->set_cross_rank(place.cross_rank);
  into->set_cross_size(place.cross_size);
}

contract::InstancePlace decodePlace(const v1::InstancePlace& from) {
  return {.host_name = from.host_name(),
          .host_index = from.host_index(),
          .num_hosts = from.num_hosts(),
          .cross_rank = from.cross_rank(),
          .cross_size = from.cross_size()};
}

void encodeRendezvous(const contract::Rendezvous& rendezvous, v1::Rendezvous* into) {
  into->set_tf_cluster(rendezvous.tf_cluster);
  into->set_tf_chief(rendezvous.tf_chief);
  into->set_tf_evaluator(rendezvous.tf_evaluator);
  into->set_master_address(rendezvous.master_address);
  into->set_master_port(rendezvous.master_port);
  into->set_jax_port(rendezvous.jax_port);
  into->set_horovod_port(rendezvous.horovod_port);
}

contract::Rendezvous decodeRendezvous(const v1::Rendezvous& from) {
  return {.tf_cluster = from.tf_cluster(),
          .tf_chief = from.tf_chief(),
          .tf_evaluator = from.tf_evaluator(),
          .master_address = from.master_address(),
          .master_port = from.master_port(),
          .jax_port = from.jax_port(),
          .horovod_port = from.horovod_port()};
}

void encodePoplar(const contract::PoplarTarget& poplar, v1::PoplarTarget* into) {
  into->set_ild_ipus(poplar.ild_ipus);
  into->set_partition(poplar.partition);
  into->set_server_host(poplar.server_host);
  into->set_server_port(poplar.server_port);
  into->set_server_timeout_seconds(poplar.server_timeout_seconds);
}

contract::PoplarTarget decodePoplar(const v1::PoplarTarget& from) {
  return {.ild_ipus = from.ild_ipus(),
          .partition = from.partition(),
          .server_host = from.server_host(),
          .server_port = from.server_port(),
          .server_timeout_seconds = from.server_timeout_seconds()};
}

Result<InstanceOrder> decodeOrder(const v1::Order& from, int num_programs) {
  POP_ASSIGN_OR_RETURN(model::Binding binding, decodeBinding(from.binding()));
  if (from.program() < 0 || from.program() >= num_programs)
    return malformed("an order's program " + std::to_string(from.program()));
  return InstanceOrder{.env = decodeEnv(from.env()),
                       .place = decodePlace(from.place()),
                       .program = from.program(),
                       .binding = std::move(binding)};
}

// They hold the job's instances in order, without a gap.
Result<SharedHostInstances> decodeHosts(const v1::Slice& from) {
  std::vector<HostInstances> hosts;
  int next = 0;
  for (const v1::HostInstances& each : from.hosts()) {
    if (each.first() != next || each.count() < 1 || each.count() > from.num_instances() - next)
      return malformed("the instances of host " + inQuotes(each.host()));
    next += each.count();
    hosts.push_back({each.host(), each.first(), each.count()});
  }
  if (next != from.num_instances()) return malformed("instances without a host");
  return std::make_shared<const std::vector<HostInstances>>(std::move(hosts));
}

// CPUs by number that have not been named yet. Each allowed CPU is in one node, and in one core.
using LeftCpus = std::vector<bool>;

LeftCpus allOf(const model::CpuSet& allowed) {
  LeftCpus left(static_cast<std::size_t>(allowed.cpus().back()) + 1);
  for (const int cpu : allowed.cpus()) left[static_cast<std::size_t>(cpu)] = true;
  return left;
}

Result<model::CpuSet> takeCpus(const std::string& text, LeftCpus& left) {
  POP_ASSIGN_OR_RETURN(model::CpuSet cpus, decodeCpus(text));
  for (const int cpu : cpus.cpus()) {
    const auto number = static_cast<std::size_t>(cpu);
    if (number >= left.size() || !left[number])
      return malformed("CPU " + std::to_string(cpu) + " of a topology is not allowed, or in several places");
    left[number] = false;
  }
  return cpus;
}

}  // namespace

v1::Slice encode(const JobSlice& slice) {
  v1::Slice into;
  into.set_job_id(slice.job_id);
  into.set_key(slice.key);
  into.set_host_address(slice.host_address);
  into.set_num_instances(slice.num_instances);
  for (const model::Program& program : slice.programs) encodeProgram(program, into.add_programs());
  for (const InstanceOrder& order : slice.instances) {
    v1::Order* const each = into.add_instances();
    encodeEnv(order.env, each->mutable_env());
    encodePlace(order.place, each->mutable_place());
    each->set_program(order.program);
    encodeBinding(order.binding, each->mutable_binding());
  }
  for (const HostInstances& each : *slice.hosts) {
    v1::HostInstances* const host = into.add_hosts();
    host->set_host(each.host);
    host->set_first(each.first);
    host->set_count(each.count);
  }
  encodeRendezvous(slice.rendezvous, into.mutable_rendezvous());
  encodePoplar(slice.poplar, into.mutable_poplar());
  into.set_env_families(contract::envFamiliesText(slice.env_families));
  encodeVariables(slice.environment, into.mutable_environment());
  into.set_stdin_who(encodeReaders(slice.stdin_policy.who));
  into.set_stdin_instance(slice.stdin_policy.instance);
  into.set_kill_grace_ms(slice.kill_grace.count());
  into.set_reports_wanted(slice.reports_wanted);
  return into;
}

Result<JobSlice> decode(const v1::Slice& from) {
  JobSlice slice;
  slice.job_id = from.job_id();
  slice.key = from.key();
  slice.host_address = from.host_address();
  slice.num_instances = from.num_instances();
  for (const v1::Program& program : from.programs()) {
    POP_ASSIGN_OR_RETURN(slice.programs.emplace_back(), decodeProgram(program));
  }
  std::set<int> named;
  for (const v1::Order& order : from.instances()) {
    POP_ASSIGN_OR_RETURN(InstanceOrder decoded, decodeOrder(order, from.programs_size()));
    if (!named.insert(decoded.env.instance_index).second)
      return malformed("instance " + std::to_string(decoded.env.instance_index) + " twice");
    slice.instances.push_back(std::move(decoded));
  }
  POP_ASSIGN_OR_RETURN(slice.hosts, decodeHosts(from));
  slice.rendezvous = decodeRendezvous(from.rendezvous());
  slice.poplar = decodePoplar(from.poplar());
  POP_ASSIGN_OR_RETURN(slice.env_families, contract::parseEnvFamilies(from.env_families()));
  slice.environment = decodeVariables(from.environment());
  POP_ASSIGN_OR_RETURN(slice.stdin_policy.who, decodeReaders(from.stdin_who()));
  slice.stdin_policy.instance = from.stdin_instance();
  if (from.kill_grace_ms() < 0) return malformed("a negative grace");
  slice.kill_grace = std::chrono::milliseconds(from.kill_grace_ms());
  slice.reports_wanted = from.reports_wanted();
  return slice;
}

v1::Topology encode(const model::HostTopology& topology) {
  v1::Topology into;
  into.set_allowed(topology.allowed.text());
  for (const model::MemoryNode& node : topology.nodes) {
    v1::MemoryNode* const each = into.add_nodes();
    each->set_index(node.index);
    each->set_cpus(node.cpus.text());
    each->set_memory_bytes(node.memory_bytes);
  }
  for (const model::Core& core : topology.cores) {
    v1::Core* const each = into.add_cores();
    each->set_cpus(core.cpus.text());
    each->set_package(core.package);
    each->set_efficiency(core.efficiency);
  }
  into.set_quota_cpus(topology.quota_cpus);
  into.set_memory_binding_allowed(topology.memory_binding_allowed);
  into.set_nodes_problem(topology.nodes_problem);
  return into;
}

Result<model::HostTopology> decode(const v1::Topology& from) {
  model::HostTopology topology;
  POP_ASSIGN_OR_RETURN(topology.allowed, decodeCpus(from.allowed()));
  if (topology.allowed.empty() || from.nodes().empty())
    return malformed("a topology without CPUs or memory nodes");
  LeftCpus without_node = allOf(topology.allowed);
  for (const v1::MemoryNode& node : from.nodes()) {
    POP_ASSIGN_OR_RETURN(model::CpuSet cpus, takeCpus(node.cpus(), without_node));
    topology.nodes.push_back(
        {.index = node.index(), .cpus = std::move(cpus), .memory_bytes = node.memory_bytes()});
  }
  LeftCpus without_core = allOf(topology.allowed);
  for (const v1::Core& core : from.cores()) {
    POP_ASSIGN_OR_RETURN(model::CpuSet cpus, takeCpus(core.cpus(), without_core));
    if (cpus.empty()) return malformed("a core without CPUs");
    topology.cores.push_back(
        {.cpus = std::move(cpus), .package = core.package(), .efficiency = core.efficiency()});
  }
  topology.quota_cpus = from.quota_cpus();
  topology.memory_binding_allowed = from.memory_binding_allowed();
  topology.nodes_problem = from.nodes_problem();
  return topology;
}

}  // namespace pop::wire
