// SPDX-License-Identifier: Apache-2.0
// Contexts of instances that were started by hand.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "common/contract/segment.h"
#include "libpopdist/collectives/api/context_impl.h"
#include "libpopdist/collectives/cluster/link/join.h"
#include "libpopdist/collectives/cluster/tf_config.h"
#include "libpopdist/collectives/context/backends.h"
#include "libpopdist/collectives/context/environment.h"
#include "libpopdist/collectives/context/memory_link.h"
#include "libpopdist/collectives/context/one_copy.h"
#include "popdist/cluster_resolver.hpp"

namespace popdist::train {
namespace {

using context::throwIfFailed;

constexpr const char* kOperation = "contextOf";

pop::Status check(const Cluster& cluster, const ClusterOptions& options) {
  if (cluster.from_poprun) {
    return pop::failedPrecondition(
        "poprun started this process and connects it: use contextFor or Context::fromEnvironment");
  }
  if (options.timeout.count() < 1)
    return pop::invalidArgument("ClusterOptions::timeout must be at least a millisecond");
  if (options.replicas_per_instance < 1 || options.ipus_per_replica < 1) {
    return pop::invalidArgument("ClusterOptions has " + std::to_string(options.replicas_per_instance) +
                                " replicas of " + std::to_string(options.ipus_per_replica) +
                                " IPUs for each instance; expected at least 1 of each");
  }
  const std::int64_t replicas = std::int64_t{options.replicas_per_instance} * cluster.size();
  if (replicas > INT32_MAX) {
    return pop::invalidArgument("ClusterOptions has " + std::to_string(options.replicas_per_instance) +
                                " replicas for each of " + std::to_string(cluster.size()) +
                                " instances, expected at most " + std::to_string(INT32_MAX) + " together");
  }
  return cluster::checkCluster(cluster);
}

pop::contract::InstanceEnv envOf(int instance, int instances, const ClusterOptions& options) {
  pop::contract::InstanceEnv env;
  env.num_total_replicas = options.replicas_per_instance * instances;
  env.num_ipus_per_replica = options.ipus_per_replica;
  env.num_local_replicas = options.replicas_per_instance;
  env.replica_index_offset = options.replicas_per_instance * instance;
  env.num_instances = instances;
  env.instance_index = instance;
  return env;
}

cluster::Roster rosterOf(const Cluster& cluster, const ClusterOptions& options) {
  cluster::Roster roster{.workers = cluster.workers,
                         .tasks = {},
                         .options = pop::counted(options.replicas_per_instance, "replica") + " of " +
                                    pop::counted(options.ipus_per_replica, "IPU")};
  for (int i = 0; i < cluster.size(); ++i) roster.tasks.push_back(cluster.taskOf(i));
  return roster;
}

std::unique_ptr<Context> contextWith(const pop::contract::InstanceEnv& env,
                                     std::unique_ptr<context::Link> link) {
  const context::TransportSettings transport = context::transportSettingsFromEnvironment();
  pop::Result<context::BackendChoice> backend = context::chosenBackend();
  throwIfFailed({backend.status()}, kOperation);
  return std::make_unique<Context>(
      std::make_unique<Context::Impl>(env, std::move(link), transport, *backend));
}

std::unique_ptr<Context> contextAlone(bool offline, const ClusterOptions& options) {
  auto hub = context::MemoryHub::create(1, context::mappableSegmentBytes(1));
  throwIfFailed({hub.status()}, kOperation);
  pop::contract::InstanceEnv env = envOf(0, 1, options);
  env.offline = offline;
  return contextWith(env, std::make_unique<context::MemoryLink>(std::move(*hub)));
}

struct Made {
  std::unique_ptr<Context> context;
  cluster::ClusterLink* link = nullptr;  ///< the context's; none: the process is alone
};

Made make(const Cluster& cluster, const ClusterOptions& options) {
  throwIfFailed({check(cluster, options)}, kOperation);
  context::claimThisProcess();
  if (cluster.workers.empty() || cluster.isEvaluator()) return {contextAlone(cluster.isEvaluator(), options)};
  const int instance = cluster.instanceIndex();
  std::unique_ptr<cluster::ClusterLink> link;
  const auto timeout = std::min(options.timeout, context::kLongestTimeout);
  throwIfFailed(cluster::join(rosterOf(cluster, options), instance, timeout, link), kOperation);
  cluster::ClusterLink* const its_link = link.get();
  return {contextWith(envOf(instance, cluster.size(), options), std::move(link)), its_link};
}

// A context that contextFor has made. It lives until the process ends, as poprun's does, and its end is the
// process's.
struct Kept {
  Cluster cluster;
  ClusterOptions options;
  Made made;
  bool has_left = false;

  bool isOf(const Cluster& other, const ClusterOptions& with) const {
    return !has_left && cluster.workers == other.workers && cluster.has_chief == other.has_chief &&
           cluster.type == other.type && cluster.index == other.index &&
           options.replicas_per_instance == with.replicas_per_instance &&
           options.ipus_per_replica == with.ipus_per_replica;
  }
  void leave(bool clean) {
    if (made.link == nullptr || std::exchange(has_left, true)) return;
    made.link->leave(clean);
  }
};

struct AllKept {
  std::mutex mutex;
  std::list<Kept> contexts;
};

// Never destroyed: another thread may be in a collective while this one exits.
AllKept& allKept() {
  static AllKept& all = *new AllKept;
  return all;
}

void leaveAtExit(int exit_code, void*) {
  const std::unique_lock lock(allKept().mutex, std::try_to_lock);  // another thread may wait for instances
  if (!lock.owns_lock()) return;
  for (Kept& each : allKept().contexts) each.leave(exit_code == 0);
}

Kept& keptFor(const Cluster& cluster, const ClusterOptions& options) {
  static const int registered = ::on_exit(leaveAtExit, nullptr);
  static_cast<void>(registered);
  std::list<Kept>& all = allKept().contexts;
  const auto known =
      std::find_if(all.begin(), all.end(), [&](const Kept& each) { return each.isOf(cluster, options); });
  if (known != all.end()) return *known;
  Made made = make(cluster, options);
  return all.emplace_back(Kept{cluster, options, std::move(made)});
}

}  // namespace

std::unique_ptr<Context> contextOf(const Cluster& cluster, const ClusterOptions& options) {
  return make(cluster, options).context;
}

std::shared_ptr<Context> contextFor(const ClusterResolver* given, const ClusterOptions& options) {
  const Cluster cluster = resolveCluster(given);
  if (cluster.from_poprun) return {&Context::fromEnvironment(), [](Context*) {}};
  const std::lock_guard lock(allKept().mutex);
  Kept& kept = keptFor(cluster, options);
  return {kept.made.context.get(), [&kept, exceptions = std::uncaught_exceptions()](Context*) {
            if (std::uncaught_exceptions() <= exceptions) return;
            const std::lock_guard leaving(allKept().mutex);
            kept.leave(false);
          }};
}

}  // namespace popdist::train
