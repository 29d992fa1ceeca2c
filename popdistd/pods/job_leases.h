// SPDX-License-Identifier: Apache-2.0
// Partitions for jobs, as PopRun has them: a job's partition is made if it is not there, and then goes with
// the job; one that is there is reset, or with `update` made anew when it does not fit.
#pragma once

#include <string>
#include <vector>

#include "popdistd/jobs/pod_leases.h"
#include "popdistd/pods/access.h"
#include "popdistd/pods/partitions.h"

namespace pop::popdistd {

class JobLeases final : public PodLeases {
 public:
  JobLeases(Partitions& partitions, const PodAccess& access) : partitions_(partitions), access_(access) {}

  Status check(const LeaseRequest& request) override;
  LeaseAnswer look(const LeaseRequest& request) override;
  LeaseAnswer take(const LeaseRequest& request) override;
  void giveBack(std::int64_t job) override;
  void ended(std::int64_t job, const std::string& partition) override;
  void lost(std::int64_t job, const std::string& why) override;
  std::string heldBy(std::int64_t job) const override;
  std::vector<std::int64_t> holders() const override;

 private:
  LeaseAnswer attempt(const LeaseRequest& request, vipu::Change& change);
  LeaseAnswer make(const LeaseRequest& request, vipu::Change& change);
  LeaseAnswer replace(const LeaseRequest& request, const vipu::Partition& partition, vipu::Change& change);
  LeaseAnswer use(const LeaseRequest& request, vipu::Change& change);
  LeaseAnswer reset(const LeaseRequest& request, vipu::Change& change);
  LeaseAnswer bind(const LeaseRequest& request, vipu::Change& change);
  void remove(const std::string& id, vipu::Change& change);
  vipu::PartitionTable& table() { return partitions_.table(); }

  Partitions& partitions_;
  const PodAccess& access_;
};

}  // namespace pop::popdistd
