// SPDX-License-Identifier: Apache-2.0
// Metrics of IPUs, partitions and their owners.
#include "common/base/text.h"
#include "popdistd/web/metric_builder.h"

namespace pop::popdistd {
namespace {

constexpr const char* kOperations[] = {"create", "reset", "remove"};
constexpr const char* kReadyStates[] = {"PENDING", "ACTIVE", "REMOVED", "ERROR"};
static_assert(std::size(kOperations) == kPartitionOperations);

void addIpus(MetricBuilder& to, const std::vector<IpuMeasures>& allocations) {
  MetricFamily& ipus = to.gauge("popdist_ipus", "IPUs of an allocation, by state.");
  MetricFamily& blocks =
      to.gauge("popdist_ipu_largest_free_block",
               "IPUs of the largest partition that an allocation has room for in one IPU-Link domain.");
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    const IpuMeasures& of = allocations[i];
    if (!to.isShown("allocation", i, of.allocation)) continue;
    const std::pair<const char*, int> states[] = {{"used", of.used},      {"held", of.held},
                                                  {"free", of.free},      {"unusable", of.unusable},
                                                  {"error", of.in_error}, {"quarantine", of.quarantined}};
    for (const auto& [state, count] : states)
      to.put(ipus, {{"cluster", of.cluster}, {"allocation", of.allocation}, {"state", state}}, count);
    to.put(blocks, {{"allocation", of.allocation}}, of.largest_free_block);
  }
}

void addPartitions(MetricBuilder& to, const PodMeasures& pods) {
  MetricFamily& states = to.gauge("popdist_partitions", "Partitions, by V-IPU's ready state.");
  for (const char* const state : kReadyStates) {
    const auto found = pods.partitions.find(state);
    to.put(states, {{"state", state}}, found == pods.partitions.end() ? 0 : found->second);
  }
  MetricFamily& done = to.counter("popdist_partition_operations_total",
                                  "Creations, resets and removals of partitions that are over.");
  MetricFamily& seconds = to.histograms("popdist_partition_operation_seconds", "How long these took.");
  for (std::size_t i = 0; i < kPartitionOperations; ++i) {
    const PartitionMeters::Done& of = pods.meters.done[i];
    to.put(done, {{"op", kOperations[i]}, {"result", "ok"}}, of.well);
    to.put(done, {{"op", kOperations[i]}, {"result", "failed"}}, of.badly);
    seconds.series.push_back({{{"op", kOperations[i]}}, 0, &of.seconds});
  }
  to.oneCounter("popdist_partition_auto_resets_total",
                "Resets of partitions that the daemon has begun by itself.", pods.meters.auto_resets);
}

template <typename Number>
void addByUser(MetricBuilder& to, MetricFamily& family, const std::map<std::string, Number>& values) {
  std::size_t index = 0;
  for (const auto& [user, value] : values) {
    if (to.isShown("user", index++, user)) to.put(family, {{"user", validUtf8(user)}}, value);
  }
}

}  // namespace

void addPodMetrics(MetricBuilder& to, const PodMeasures& pods) {
  addIpus(to, pods.ipus);
  addPartitions(to, pods);
  addByUser(to, to.gauge("popdist_user_ipus", "IPUs of the partitions that a user owns."), pods.user_ipus);
  addByUser(to,
            to.counter("popdist_user_ipu_seconds_total",
                       "IPUs of the partitions that a user has owned, times seconds."),
            pods.meters.ipu_seconds);
}

}  // namespace pop::popdistd
