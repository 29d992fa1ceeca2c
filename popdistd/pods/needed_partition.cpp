// SPDX-License-Identifier: Apache-2.0
#include "popdistd/pods/needed_partition.h"

#include <array>

#include "common/base/text.h"
#include "popdistd/pods/holder_id.h"

namespace pop::popdistd {
namespace {

struct NamedSync {
  std::string_view name;
  vipu::SyncType type;
};
constexpr std::array kSyncTypes{
    NamedSync{"", vipu::SyncType::kUndefined},
    NamedSync{"ST_GS2_DEFAULT", vipu::SyncType::kGs2Default},
    NamedSync{"ST_GS2_INDEPENDENT_RAILS", vipu::SyncType::kGs2IndependentRails},
    NamedSync{"ST_POD_NATIVE_DEFAULT", vipu::SyncType::kPodNativeDefault},
    NamedSync{"ST_POD_NATIVE_REPLICATED_PIPELINE", vipu::SyncType::kPodNativeReplicatedPipeline},
};

Result<vipu::SyncType> syncOf(const std::string& name) {
  for (const NamedSync& each : kSyncTypes) {
    if (each.name == name) return each.type;
  }
  return invalidArgument("partition.sync_type (--sync-type) " + inQuotes(name) +
                         " is not one of V-IPU's: ST_GS2_DEFAULT, ST_POD_NATIVE_DEFAULT, …");
}

}  // namespace

Result<vipu::CreateRequest> requestOf(const LeaseRequest& request, bool any_allocation) {
  const model::JobSpec& spec = request.spec;
  POP_ASSIGN_OR_RETURN(const vipu::SyncType sync, syncOf(spec.partition.sync_type));
  vipu::CreateRequest made;
  made.owner = request.user;
  made.any_allocation = any_allocation;
  made.requirements.id = spec.partition.name;
  made.requirements.size = static_cast<std::uint32_t>(model::partitionIpus(spec));
  made.requirements.allocation = spec.partition.allocation;
  made.requirements.num_gcds = static_cast<std::uint32_t>(spec.num_instances);
  const bool is_even = spec.num_replicas % spec.num_instances == 0;  // else each GCD counts as one
  made.requirements.num_replicas = is_even ? static_cast<std::uint32_t>(spec.num_replicas) : 0;
  const int ilds = (model::partitionIpus(spec) + vipu::kMaxIldIpus - 1) / vipu::kMaxIldIpus;
  made.requirements.num_segments = static_cast<std::uint32_t>(spec.num_ilds.value_or(ilds));
  made.requirements.sync = sync;
  if (spec.partition.remove) made.goes_with = holderOf(request.job);
  return made;
}

std::string misfit(const LeaseRequest& request, const vipu::Partition& partition) {
  const int ipus = model::partitionIpus(request.spec);
  const int gcds = request.spec.num_instances;
  const vipu::PartitionSpec& spec = partition.spec;
  const Result<vipu::SyncType> sync = syncOf(request.spec.partition.sync_type);
  const bool syncs = sync.ok() && (sync.value() == vipu::SyncType::kUndefined || sync.value() == spec.sync);
  const bool fits = spec.num_gcds == gcds && (spec.size == ipus || (spec.reconfigurable && spec.size > ipus));
  if (fits && syncs) return "";
  return "partition " + partition.id + " has " + counted(spec.size, "IPU") + " in " +
         counted(spec.num_gcds, "GCD") + " and sync type " + nameOf(spec.sync) + ", and the job needs " +
         counted(ipus, "IPU") + " in " + std::to_string(gcds) +
         (syncs ? "" : " and " + request.spec.partition.sync_type);
}

}  // namespace pop::popdistd
