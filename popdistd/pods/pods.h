// SPDX-License-Identifier: Apache-2.0
// The daemon's Pods, put together: inventory, partitions, who holds them, and the calls of clients.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "popdistd/api/measures.h"
#include "popdistd/pods/holds.h"
#include "popdistd/pods/job_leases.h"
#include "popdistd/pods/partitions.h"
#include "popdistd/pods/pod_access.h"
#include "popdistd/pods/pod_inventory.h"
#include "popdistd/pods/pods_service.h"
#include "popdistd/vipu/vipu_service.h"

namespace pop::popdistd {

/// Questions and requests of Pods to jobs and hosts.
struct PodHooks {
  std::function<bool(const std::string& user)> is_admin;
  std::function<void()> changed;  ///< jobs that wait may start now
  std::function<void(std::int64_t job, const std::string& why)> cancel;
  std::function<std::string(std::int64_t job)> user_of;  ///< empty: the job is unknown
  std::function<bool(std::int64_t job)> is_over;         ///< it has ended, or is unknown
  std::function<bool(const std::string& host)> is_down;  ///< a host that is not known is not
  std::function<bool(const std::string& allocation)> has_quota;
  std::function<void(const std::string& line)> audit;  ///< null: not audited
};

class Pods {
 public:
  struct Parts {
    Loop& loop;
    const WallClock& clock;
    Store& store;
    Commits& commits;
    Revisions& revisions;
    PodSettings settings;
    PodHooks hooks;
    std::string version;
  };

  explicit Pods(const Parts& parts);

  /// Replaces all by what the store has; what was under way goes on with the next tick. kDataLoss: it cannot
  /// be read, or contradicts itself.
  Status load();
  /// Those that hold partitions by a stream must come again.
  void storeFailed(const Status& why) {
    holds_.endAll(unavailable("popdistd cannot write its store: " + why.message()));
  }
  /// The same for a daemon that ends: their partitions stay theirs until its successor has heard of them.
  void stopping(const Status& why) { holds_.endAll(why); }
  /// Call it every second.
  void tick();

  /// For trying popdistd out, where there is no cluster yet: a Pod64 of 16 machines on this host, which all
  /// users may use. Durable with the next commit.
  Status addDefaultInventory(const std::string& host);

  /// True if there is such a partition, and the caller may see it.
  bool sees(const Caller& caller, const std::string& id) const;
  /// The partition, if there is one, regardless of who may see it.
  std::optional<v1::PartitionInfo> show(const std::string& id) const;

  /// For /metrics.
  PodMeasures measures() const;
  std::size_t numPartitions() const { return partitions_.table().partitions().size(); }
  /// Ok if the caller may use the allocation. kNotFound, kPermissionDenied.
  Status checkAllocation(const Caller& caller, const std::string& allocation) const {
    return leases_.checkAllocation(caller, allocation);
  }

  PodLeases& leases() { return leases_; }
  const PodLeases& leases() const { return leases_; }
  PodsApi& api() { return service_; }
  VipuApi& vipu() { return vipu_; }

 private:
  void noteHosts();
  void removeLeftOver();

  const PodHooks hooks_;
  PodAccess access_;
  Partitions partitions_;
  PodInventory inventory_;
  Holds holds_;
  JobLeases leases_;
  PodsService service_;
  VipuService vipu_;
};

}  // namespace pop::popdistd
