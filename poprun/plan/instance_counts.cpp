// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/instance_counts.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace pop {
namespace {

using Hosts = std::vector<model::Host>;

constexpr int kMost = std::numeric_limits<int>::max();

int totalSlots(const Hosts& hosts) {
  std::int64_t slots = 0;
  for (const model::Host& host : hosts) slots += model::slotsOf(host);
  return static_cast<int>(std::min<std::int64_t>(slots, kMost));
}

void giveSlots(Hosts& hosts, int slots) {
  for (model::Host& host : hosts) host.slots = slots;
}

// Gives every host as many slots as it gets instances when these are divided evenly, each host up to its
// slots. Does nothing if they do not fit.
void divideEvenly(Hosts& hosts, int instances, bool by_slots) {
  const auto most = [by_slots](const model::Host& host) { return by_slots ? model::slotsOf(host) : kMost; };
  const auto placed_at = [&](std::int64_t level) {
    std::int64_t placed = 0;
    for (const model::Host& host : hosts) placed += std::min<std::int64_t>(level, most(host));
    return placed;
  };
  if (instances > placed_at(kMost)) return;
  std::int64_t level = 0;  // that all hosts reach, except those with fewer slots
  for (std::int64_t step = std::int64_t{1} << 30; step > 0; step /= 2) {
    if (level + step <= instances && placed_at(level + step) <= instances) level += step;
  }
  std::int64_t left = instances - placed_at(level);
  for (model::Host& host : hosts) {
    const bool one_more = left > 0 && most(host) > level;
    host.slots = static_cast<int>(std::min<std::int64_t>(level, most(host))) + (one_more ? 1 : 0);
    left -= one_more ? 1 : 0;
  }
}

bool namesHosts(const Options& options) {
  return !options.host.empty() || !options.hostfile.empty();
}

// The number of instances that the options leave open.
int openNumber(const Options& options, const Surroundings& here, const model::JobSpec& spec) {
  if (model::hasSlots(spec)) return totalSlots(spec.hosts);
  if (options.controller.num_hosts) return *options.controller.num_hosts;
  return options.fills_cores && !namesHosts(options) ? here.cores() : 1;
}

}  // namespace

void countInstances(const Options& options, const Surroundings& here, model::JobSpec& spec) {
  const bool is_open = options.programs.size() == 1 && !options.programs.front().num_instances;
  if (options.per_host.most > 0) {
    giveSlots(spec.hosts, options.per_host.most);
  } else if (options.hosts_are_slots && is_open && namesHosts(options)) {
    for (model::Host& host : spec.hosts) host.slots = model::slotsOf(host);
  }
  spec.num_instances = is_open ? openNumber(options, here, spec) : numInstances(options);
  if (is_open) spec.programs.front().num_instances = spec.num_instances;
  if (options.oversubscribe && spec.num_instances > totalSlots(spec.hosts)) giveSlots(spec.hosts, 0);
  const bool by_slots = model::hasSlots(spec);
  const bool divides = spec.num_instances % static_cast<int>(spec.hosts.size()) == 0;
  if (spec.num_instances < 1 || (!by_slots && divides)) return;
  if (options.per_host.even || (options.hosts_are_slots && !by_slots))
    divideEvenly(spec.hosts, spec.num_instances, by_slots);
}

}  // namespace pop
