// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes jobs.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/text.h"
#include "common/wire/codec_parts.h"
#include "common/wire/job_codec.h"
#include "common/wire/job_field_reader.h"

namespace pop::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void encodeHost(const model::Host& host, v1::Host* into) {
  into->set_name(host.name);
  into->set_slots(host.slots);
}

void encodeCopies(const model::CopyRequest& copies, v1::CopyRequest* into) {
  for (const std::string& path : copies.paths) into->add_paths(path);
  into->set_ssh_key(copies.ssh_key);
}

void encodePartition(const model::PartitionRequest& partition, v1::PartitionRequest* into) {
  into->set_name(partition.name);
  into->set_server_host(partition.server_host);
  into->set_server_port(partition.server_port);
  into->set_server_timeout_ms(milliseconds(seconds(partition.server_timeout_seconds)).count());
  into->set_attempts(partition.attempts);
  into->set_allocation(partition.allocation);
  into->set_update(partition.update);
  if (partition.reset) into->set_reset(*partition.reset);
  into->set_remove(partition.remove);
  into->set_sync_type(partition.sync_type);
}

void encodeBindPolicy(const model::BindPolicy& policy, v1::BindPolicy* into) {
  into->set_mode(static_cast<v1::BindMode>(policy.mode));
  into->set_cores_per_instance(policy.cores_per_instance);
  for (const model::CpuSet& cpus : policy.explicit_cpus) into->add_explicit_cpus(cpus.text());
  into->set_nodes_required(policy.nodes_required);
}

void encodeInstances(const model::JobSpec& spec, v1::JobSpec& into) {
  for (const model::Host& host : spec.hosts) encodeHost(host, into.add_hosts());
  into.set_host_subnet(spec.host_subnet);
  for (const model::Program& program : spec.programs) encodeProgram(program, into.add_programs());
  into.set_num_instances(spec.num_instances);
  into.set_num_replicas(spec.num_replicas);
  into.set_uneven_replicas(spec.uneven_replicas);
  into.set_ipus_per_replica(spec.ipus_per_replica);
  if (spec.num_ilds) into.set_num_ilds(*spec.num_ilds);
  into.set_system(spec.system);
  into.set_needs_pods(spec.needs_pods);
  into.set_offline_mode(spec.offline_mode);
}

void encodeEnds(const model::JobSpec& spec, v1::JobSpec& into) {
  into.set_kill_grace_ms(spec.kill_grace.count());
  into.set_timeout_ms(spec.timeout.count());
  into.set_stack_traces(spec.stack_traces);
  into.set_max_restarts(spec.max_restarts);
  into.set_restart_delay_ms(spec.restart_delay.count());
  if (spec.min_hosts) into.set_min_hosts(*spec.min_hosts);
}

// ---- back. What is missing keeps the value that it has in the structure.

std::vector<model::Host> decodeHosts(const v1::JobSpec& from, FieldReader& reader) {
  if (from.hosts().empty()) return model::JobSpec().hosts;
  std::vector<model::Host> hosts;
  std::set<std::string> names;
  for (const v1::Host& each : from.hosts()) {
    if (!names.insert(each.name()).second) reader.refuse("host " + inQuotes(each.name()) + " twice");
    hosts.push_back({.name = reader.host(each.name()), .slots = reader.count("slots", each.slots())});
  }
  return hosts;
}

// The sum over all programs.
int decodeNumInstances(const v1::JobSpec& from, const std::vector<model::Program>& programs,
                       FieldReader& reader) {
  std::int64_t sum = 0;
  for (const model::Program& program : programs)
    sum += reader.count("num_instances of a program", program.num_instances);
  const auto num_instances = static_cast<int>(sum);
  if (num_instances != sum || (from.has_num_instances() && from.num_instances() != num_instances)) {
    reader.refuse("num_instances is " + std::to_string(from.num_instances()) + ", and the programs have " +
                  counted(sum, "instance"));
  }
  return num_instances;
}

model::PartitionRequest decodePartition(const v1::PartitionRequest& from, FieldReader& reader) {
  model::PartitionRequest partition;
  partition.name = from.name();
  if (from.has_server_host()) partition.server_host = from.server_host();
  if (from.has_server_port()) partition.server_port = reader.count("server_port", from.server_port());
  if (partition.server_port > 65535) reader.refuse("server_port is " + std::to_string(from.server_port()));
  if (from.has_server_timeout_ms()) {
    const milliseconds timeout = reader.time("server_timeout_ms", from.server_timeout_ms());
    partition.server_timeout_seconds = static_cast<int>(timeout / seconds(1));
    if (timeout != seconds(partition.server_timeout_seconds))
      reader.refuse("server_timeout_ms is " + std::to_string(timeout.count()) + ", not whole seconds");
  }
  if (from.has_attempts()) partition.attempts = reader.count("attempts", from.attempts());
  partition.allocation = from.allocation();
  partition.update = from.update();
  if (from.has_reset()) partition.reset = from.reset();
  if (from.has_remove()) partition.remove = from.remove();
  partition.sync_type = from.sync_type();
  return partition;
}

model::BindPolicy decodeBindPolicy(const v1::BindPolicy& from, FieldReader& reader) {
  static_assert(v1::BindMode_MAX == static_cast<int>(model::BindMode::kDisabled));
  if (!v1::BindMode_IsValid(from.mode()))
    reader.refuse("mode " + std::to_string(from.mode()) + " of binding");
  model::BindPolicy policy{
      .mode = static_cast<model::BindMode>(from.mode()),
      .cores_per_instance = reader.count("cores_per_instance", from.cores_per_instance()),
      .nodes_required = from.nodes_required()};
  for (const std::string& text : from.explicit_cpus()) {
    policy.explicit_cpus.push_back(reader.take(model::CpuSet::parse(text)));
    reader.countCpus(policy.explicit_cpus.back());
    if (!reader.status().ok()) break;
  }
  return policy;
}

model::StdinPolicy decodeStdin(const v1::StdinPolicy& from, int num_instances, FieldReader& reader) {
  return {.who = reader.take(decodeReaders(from.who())),
          .instance = reader.instance(from.instance(), num_instances)};
}

void decodeInstances(const v1::JobSpec& from, FieldReader& reader, model::JobSpec& spec) {
  spec.hosts = decodeHosts(from, reader);
  spec.host_subnet = from.host_subnet();
  for (const v1::Program& program : from.programs())
    spec.programs.push_back(reader.take(decodeProgram(program)));
  spec.num_instances = decodeNumInstances(from, spec.programs, reader);
  spec.num_replicas =
      from.has_num_replicas() ? reader.count("num_replicas", from.num_replicas()) : spec.num_instances;
  spec.uneven_replicas = from.uneven_replicas();
  if (from.has_ipus_per_replica())
    spec.ipus_per_replica = reader.count("ipus_per_replica", from.ipus_per_replica());
  if (from.has_num_ilds()) spec.num_ilds = reader.count("num_ilds", from.num_ilds());
  spec.system = from.system();
  if (from.has_needs_pods()) spec.needs_pods = from.needs_pods();
  spec.offline_mode = from.offline_mode();
}

// Those of a map by name, since a message has them in any order.
void addVariables(const v1::JobSpec& from, FieldReader& reader, std::vector<model::Variable>& variables) {
  const std::map<std::string, std::string> by_name(from.variables().begin(), from.variables().end());
  for (const auto& [name, value] : by_name) {
    if (name.empty() || name.find('=') != std::string::npos)
      reader.refuse(inQuotes(name) + " is not the name of a variable");
    variables.emplace_back(name, value);
  }
}

void decodeEnds(const v1::JobSpec& from, FieldReader& reader, model::JobSpec& spec) {
  if (from.has_kill_grace_ms()) spec.kill_grace = reader.time("kill_grace_ms", from.kill_grace_ms());
  spec.timeout = reader.time("timeout_ms", from.timeout_ms());
  spec.stack_traces = from.stack_traces();
  spec.max_restarts = reader.count("max_restarts", from.max_restarts());
  spec.restart_delay = reader.time("restart_delay_ms", from.restart_delay_ms());
  if (from.has_min_hosts()) spec.min_hosts = reader.count("min_hosts", from.min_hosts());
}

}  // namespace

std::string encode(const model::JobSpec& spec) {
  v1::JobSpec into;
  encodeInstances(spec, into);
  if (spec.copies != model::CopyRequest()) encodeCopies(spec.copies, into.mutable_copies());
  if (spec.partition != model::PartitionRequest()) encodePartition(spec.partition, into.mutable_partition());
  encodeBindPolicy(spec.binding, into.mutable_binding());
  into.set_env_families(contract::envFamiliesText(spec.env_families));
  into.mutable_tf_tasks()->set_chief(spec.tf_tasks.chief);
  into.mutable_tf_tasks()->set_evaluator(spec.tf_tasks.evaluator);
  encodeVariables(spec.environment, into.mutable_environment());
  into.set_executable_cache_path(spec.executable_cache_path);
  into.set_make_executable_cache(spec.make_executable_cache);
  into.mutable_stdin_policy()->set_who(encodeReaders(spec.stdin_policy.who));
  into.mutable_stdin_policy()->set_instance(spec.stdin_policy.instance);
  encodeEnds(spec, into);
  return into.SerializeAsString();
}

Result<model::JobSpec> decodeSpec(std::string_view bytes) {
  v1::JobSpec from;
  POP_RETURN_IF_ERROR(readRecord(bytes, from));
  if (from.programs().empty()) return malformed("a job without a program");
  model::JobSpec spec;
  FieldReader reader;
  decodeInstances(from, reader, spec);
  spec.copies = {.paths = {from.copies().paths().begin(), from.copies().paths().end()},
                 .ssh_key = from.copies().ssh_key()};
  spec.partition = decodePartition(from.partition(), reader);
  spec.binding = decodeBindPolicy(from.binding(), reader);
  if (!from.env_families().empty())
    spec.env_families = reader.take(contract::parseEnvFamilies(from.env_families()));
  spec.tf_tasks = {.chief = from.tf_tasks().chief(), .evaluator = from.tf_tasks().evaluator()};
  spec.environment = decodeVariables(from.environment());
  addVariables(from, reader, spec.environment);
  spec.executable_cache_path = from.executable_cache_path();
  spec.make_executable_cache = from.make_executable_cache();
  if (from.has_stdin_policy())
    spec.stdin_policy = decodeStdin(from.stdin_policy(), spec.num_instances, reader);
  decodeEnds(from, reader, spec);
  if (!reader.status().ok()) return reader.status();
  return spec;
}

}  // namespace pop::wire
