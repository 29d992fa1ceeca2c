// SPDX-License-Identifier: Apache-2.0
// Partitions for jobs, as PopRun has them: a job's partition is made if it is not there, and then goes with
// the job; one that is there is reset, or with `update` made anew when it does not fit.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "popdistd/common/pod_leases.h"
#include "popdistd/pods/partitions.h"
#include "popdistd/pods/pod_access.h"

namespace pop::popdistd {

class JobLeases final : public PodLeases {
 public:
  JobLeases(Partitions& partitions, const PodAccess& access) : partitions_(partitions), access_(access) {}

  Status check(const LeaseRequest& request) override;
  LeaseNeed need(const LeaseRequest& request) override;
  Presence presenceOf(const std::string& partition) const override;
  PodRoom room() const override;
  Status checkAllocation(const Caller& caller, const std::string& allocation) const override;
  Status checkAllocation(const LeaseRequest& request, const std::string& allocation) const override {
    return checkAllocation(submitterOf(request), allocation);
  }
  std::set<std::string> hostsOf(const std::string& allocation) const override;
  std::string allocationOf(const std::string& partition) const override;
  LeaseAnswer take(const LeaseRequest& request, const ChosenBlock* block) override;
  Result<std::string> systemOf(const LeaseRequest& request) const override;
  void giveBack(std::int64_t job) override;
  void ended(std::int64_t job, const std::string& partition) override;
  void lost(std::int64_t job, const std::string& why) override;
  std::string heldBy(std::int64_t job) const override;
  std::vector<std::int64_t> holders() const override;

 private:
  Caller submitterOf(const LeaseRequest& request) const {
    return access_.submitterOf(request.user, request.role);
  }
  /// Checks if the job could have its partition now. Changes nothing.
  LeaseAnswer look(const LeaseRequest& request);
  LeaseNeed needOfNew(const LeaseRequest& request) const;
  LeaseAnswer attempt(const LeaseRequest& request, const ChosenBlock* block, vipu::Change& change);
  LeaseAnswer make(const LeaseRequest& request, const ChosenBlock* block, vipu::Change& change);
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
