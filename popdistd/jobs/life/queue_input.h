// SPDX-License-Identifier: Apache-2.0
// The queue's input, from the tables of jobs, hosts, partitions and quotas.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "popdistd/common/pod_leases.h"
#include "popdistd/jobs/table/host_table.h"
#include "popdistd/jobs/table/job_table.h"
#include "popdistd/jobs/table/quota_table.h"
#include "popdistd/queue/plan.h"

namespace pop::popdistd {

/// True for a user who may do nothing any more, so that none of its jobs starts; null: all users may.
using IsShutOut = std::function<bool(const std::string& user)>;

struct QueueTables {
  JobTable& jobs;
  const HostTable& hosts;
  PodLeases& pods;
  const QuotaTable& quotas;
  const queue::Rules& rules;
  const IsShutOut& is_shut_out;
  Clock::time_point now;
  queue::Time seen;  ///< the clock of usage, whatever the time of day does
};

struct QueueInput {
  queue::Snapshot snapshot;
  std::vector<bool> never;  ///< by shape: what is submitted so cannot be; its `blocked` says why
};

QueueInput queueInput(const QueueTables& tables, queue::Time now);

/// Instances of jobs that have a runner, by host.
struct HostLoad {
  int jobs = 0;
  int instances = 0;
};
std::map<std::string, HostLoad> loadOf(JobTable& jobs);

/// The job's instances and IPUs, as quotas count them.
queue::Shape useOf(const Job& job);

/// The job's usage in seconds since its runner has started, as it counts when `seen` of SeenTime is now.
double usedSoFar(const Job& job, queue::Time seen);

/// The allocations of these pools, with what runs.
std::vector<queue::Account> allocationAccounts(const QueueTables& tables,
                                               const std::vector<queue::Pool>& pools);

}  // namespace pop::popdistd
