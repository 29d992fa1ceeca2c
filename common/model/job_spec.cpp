// SPDX-License-Identifier: Apache-2.0
#include "common/model/job_spec.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "common/base/check.h"
#include "common/base/text.h"

namespace pop::model {
namespace {

constexpr int kMaxInstances = 65536;
constexpr int kMaxReplicas = 1 << 20;

std::string option(const char* name, int value) {
  return std::string(name) + ' ' + std::to_string(value);
}

void checkRange(std::vector<std::string>& mistakes, const char* name, int value, int most) {
  if (value < 1) mistakes.push_back(option(name, value) + ": must be at least 1");
  if (value > most) mistakes.push_back(option(name, value) + ": must be at most " + std::to_string(most));
}

// The multiples of `divisor` around `value`, as a suggestion: "4 or 6".
std::string nearestMultiples(int value, int divisor) {
  const int below = value / divisor * divisor;
  const std::string above = std::to_string(below + divisor);
  return below == 0 ? above : std::to_string(below) + " or " + above;
}

void checkReplicas(std::vector<std::string>& mistakes, const JobSpec& spec) {
  if (uniformReplicas(spec)) return;
  if (spec.uneven_replicas) {
    if (spec.num_replicas > spec.num_instances) return;
    mistakes.push_back(option("--num-replicas", spec.num_replicas) + ": each of the " +
                       counted(spec.num_instances, "instance") + " needs at least one replica");
    return;
  }
  mistakes.push_back(option("--num-replicas", spec.num_replicas) + " cannot be divided evenly over " +
                     counted(spec.num_instances, "instance") + ": use --num-replicas " +
                     nearestMultiples(spec.num_replicas, spec.num_instances) +
                     (spec.num_replicas > spec.num_instances
                          ? ", another --num-instances, or --uneven-replicas yes"
                          : ", or another --num-instances"));
}

void checkIpusPerReplica(std::vector<std::string>& mistakes, const JobSpec& spec) {
  const auto ipus = static_cast<unsigned>(spec.ipus_per_replica);
  if (std::has_single_bit(ipus) || spec.ipus_per_replica > kMaxIldIpus) return;
  mistakes.push_back(option("--ipus-per-replica", spec.ipus_per_replica) + ": must be a power of two; use " +
                     std::to_string(std::bit_floor(ipus)) + " or " + std::to_string(std::bit_ceil(ipus)));
}

int totalSlots(const JobSpec& spec) {
  std::int64_t slots = 0;
  for (const Host& host : spec.hosts) slots += slotsOf(host);
  return static_cast<int>(std::min<std::int64_t>(slots, std::numeric_limits<int>::max()));
}

void checkHosts(std::vector<std::string>& mistakes, const JobSpec& spec) {
  if (hasSlots(spec)) {
    if (spec.num_instances <= totalSlots(spec)) return;
    mistakes.push_back(option("--num-instances", spec.num_instances) + ": the hosts have " +
                       counted(totalSlots(spec), "slot") +
                       "; use fewer instances, give the hosts more slots (--host name:N, slots=N in a " +
                       "--hostfile), or --oversubscribe yes");
    return;
  }
  const int hosts = static_cast<int>(spec.hosts.size());
  if (spec.num_instances % hosts == 0) return;
  mistakes.push_back(option("--num-instances", spec.num_instances) + " cannot be divided evenly over " +
                     counted(hosts, "host") + ": use --num-instances " +
                     nearestMultiples(spec.num_instances, hosts) + ", or another --host list");
}

std::int64_t firstIpuOf(const JobSpec& spec, int instance) {
  return std::int64_t{firstReplicaOf(spec, instance)} * spec.ipus_per_replica;
}

// The first instance whose IPUs lie in more than one domain, or -1.
int firstStraddler(const JobSpec& spec) {
  for (int instance = 0; instance < spec.num_instances; ++instance) {
    if (firstIpuOf(spec, instance) / kMaxIldIpus != (firstIpuOf(spec, instance + 1) - 1) / kMaxIldIpus)
      return instance;
  }
  return -1;
}

// IPUs of the largest domain: the first, since the first instances have most.
std::int64_t ipusOfFirstIld(const JobSpec& spec, int ilds) {
  return firstIpuOf(spec, spec.num_instances / ilds);
}

// Real Pods have their own hosts; a single host can emulate several.
void checkHostsOfPods(std::vector<std::string>& mistakes, const JobSpec& spec) {
  const int hosts = static_cast<int>(spec.hosts.size());
  if (countIlds(spec) <= hosts || (hosts == 1 && spec.partition.name.empty())) return;
  mistakes.push_back("--host: the job's IPUs are in " + counted(countIlds(spec), "Pod") +
                     ", each of which needs a host, and there " + (hosts == 1 ? "is " : "are ") +
                     std::to_string(hosts) + "; use more hosts, fewer IPUs, or, to emulate the Pods, " +
                     "a single host without --vipu-partition");
}

// The domains that the user asks for.
void checkChosenIlds(std::vector<std::string>& mistakes, const JobSpec& spec) {
  const int ilds = *spec.num_ilds;
  if (ilds < 1 || ilds > spec.num_instances || spec.num_instances % ilds != 0) {
    mistakes.push_back(option("--num-ilds", ilds) + ": each IPU-Link domain needs the same number of " +
                       "instances, at least one, and there are " + std::to_string(spec.num_instances) +
                       "; use a divisor of --num-instances");
    return;
  }
  const std::int64_t ipus = ipusOfFirstIld(spec, ilds);
  if (ipus <= kMaxIldIpus) return;
  mistakes.push_back(option("--num-ilds", ilds) + ": each IPU-Link domain would have " +
                     std::to_string(ipus) + " IPUs, and has at most " + std::to_string(kMaxIldIpus) +
                     "; use more domains");
}

void checkIlds(std::vector<std::string>& mistakes, const JobSpec& spec) {
  if (spec.num_ilds) return checkChosenIlds(mistakes, spec);
  const int straddler = firstStraddler(spec);
  if (straddler < 0) return;
  mistakes.push_back(option("--num-instances", spec.num_instances) + ": the IPUs of instance " +
                     std::to_string(straddler) + " would lie in two IPU-Link domains (of " +
                     std::to_string(kMaxIldIpus) +
                     " IPUs); use more instances, each with a power of two of IPUs");
}

// The evaluator is not part of TF_CONFIG's cluster, which needs at least one member.
void checkTfTasks(std::vector<std::string>& mistakes, const JobSpec& spec) {
  if (!spec.tf_tasks.evaluator || spec.num_instances >= 2) return;
  mistakes.emplace_back(
      "--tf-config-tasks evaluator: the last instance evaluates, so there must be at least " +
      option("--num-instances", 2));
}

void checkMinHosts(std::vector<std::string>& mistakes, const JobSpec& spec) {
  const int hosts = static_cast<int>(spec.hosts.size());
  if (minHosts(spec) >= 1 && minHosts(spec) <= hosts) return;
  mistakes.push_back(option("--min-hosts", minHosts(spec)) + ": must be at least 1 and at most " +
                     std::to_string(hosts) + ", the number of hosts");
}

// Each program has a command, and its own instances.
void checkPrograms(std::vector<std::string>& mistakes, const JobSpec& spec) {
  if (spec.programs.size() <= 1) {
    if (!spec.programs.empty() && !spec.programs.front().command.empty()) return;
    mistakes.emplace_back("no program: name it after the options, as in `poprun --num-instances 2 ./train`");
    return;
  }
  int number = 0;
  for (const Program& program : spec.programs) {
    const std::string which = "program " + std::to_string(++number) + " of the ':'-separated programs";
    if (program.command.empty())
      mistakes.push_back(which + ": its command is missing; name it, or remove the ':'");
    if (program.num_instances < 1) {
      mistakes.push_back(which + ": " + option("--num-instances", program.num_instances) +
                         ": must be at least 1");
    }
  }
}

}  // namespace

int partitionIpus(const JobSpec& spec) {
  const auto ipus =
      static_cast<std::uint64_t>(spec.num_replicas) * static_cast<std::uint64_t>(spec.ipus_per_replica);
  return static_cast<int>(std::bit_ceil(ipus));
}

bool hasSlots(const JobSpec& spec) {
  return std::any_of(spec.hosts.begin(), spec.hosts.end(), [](const Host& host) { return host.slots > 0; });
}

int slotsOf(const Host& host) {
  return std::max(host.slots, 1);
}

int firstReplicaOf(const JobSpec& spec, int instance) {
  return instance * (spec.num_replicas / spec.num_instances) +
         std::min(instance, spec.num_replicas % spec.num_instances);
}

bool uniformReplicas(const JobSpec& spec) {
  return spec.num_replicas % spec.num_instances == 0;
}

int minHosts(const JobSpec& spec) {
  return spec.min_hosts.value_or(static_cast<int>(spec.hosts.size()));
}

int countIlds(const JobSpec& spec) {
  const std::int64_t ipus = std::int64_t{spec.num_replicas} * spec.ipus_per_replica;
  return spec.num_ilds.value_or(static_cast<int>((ipus + kMaxIldIpus - 1) / kMaxIldIpus));
}

int programOf(const JobSpec& spec, int instance) {
  int index = 0;
  for (const Program& program : spec.programs) {
    if (instance < program.num_instances) break;
    instance -= program.num_instances;
    ++index;
  }
  POP_CHECK(index < static_cast<int>(spec.programs.size()));
  return index;
}

std::vector<std::string> findMistakes(const JobSpec& spec) {
  std::vector<std::string> mistakes;
  checkRange(mistakes, "--num-instances", spec.num_instances, kMaxInstances);
  checkRange(mistakes, "--num-replicas", spec.num_replicas, kMaxReplicas);
  checkRange(mistakes, "--ipus-per-replica", spec.ipus_per_replica, static_cast<int>(kMaxIldIpus));
  if (mistakes.empty()) {  // the rules below divide by these numbers
    checkReplicas(mistakes, spec);
    checkHosts(mistakes, spec);
    if (mistakes.empty() && spec.needs_pods) checkIlds(mistakes, spec);
    if (mistakes.empty() && spec.needs_pods) checkHostsOfPods(mistakes, spec);
    checkMinHosts(mistakes, spec);
    checkTfTasks(mistakes, spec);
  }
  if (spec.ipus_per_replica >= 1) checkIpusPerReplica(mistakes, spec);
  checkPrograms(mistakes, spec);
  return mistakes;
}

}  // namespace pop::model
