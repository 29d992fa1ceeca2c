// SPDX-License-Identifier: Apache-2.0
// The interface by which jobs lease partitions: a job that names a partition starts when the partition is
// there for it, and holds it until the job's end is proved. popdistd/pods implements it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/model/job_spec.h"
#include "popdistd/api/caller.h"
#include "popdistd/queue/shape.h"

namespace pop::popdistd {

/// A job, as far as its partition is concerned.
struct LeaseRequest {
  std::int64_t job = 0;
  const std::string& user;
  v1::Role role;  ///< of the submitter, within a token's scope
  const model::JobSpec& spec;
};

struct LeaseAnswer {
  enum class Kind : std::uint8_t {
    kReady,      ///< the job may start, or names no partition
    kPreparing,  ///< its partition is being configured for it: it keeps what else it needs
    kWaits,      ///< for others
    kNever,      ///< as it is submitted
  } kind = Kind::kReady;
  std::string reason;  ///< why it does not start, for people
};

/// A job's need of Pods, for the queue.
struct LeaseNeed {
  enum class Kind : std::uint8_t {
    kNothing,    ///< it names no partition, or has it
    kPartition,  ///< this one, which is there: no other job may have it meanwhile
    kBlock,      ///< a new one
    kBlocked,    ///< by a cause that no job's end changes
    kNever,      ///< it cannot be, as it is submitted
  } kind = Kind::kNothing;
  std::string reason;     ///< kBlocked, kNever
  std::string partition;  ///< kPartition
  int segment_ipus = 0;   ///< kBlock, as the rest
  int segments = 1;
  std::vector<std::string> allocations;  ///< that it may be made in
};

/// Owned IPUs of an allocation.
struct OwnedBlock {
  std::string allocation;
  std::vector<queue::IldIpus> ipus;
  std::int64_t job = 0;  ///< with whose end they are free; 0: the time is unknown
};

/// All IPUs that jobs may get.
struct PodRoom {
  std::vector<queue::Pool> pools;  ///< by allocation
  std::vector<OwnedBlock> owned;
};

/// The block that a new partition gets.
struct ChosenBlock {
  std::string allocation;
  std::vector<queue::IldIpus> ipus;
};

enum class Presence : std::uint8_t { kNotThere, kHeldByJob, kThere };

class PodLeases {
 public:
  virtual ~PodLeases() = default;

  virtual LeaseNeed need(const LeaseRequest& request) = 0;
  /// The state of the partition of this name. If it is not there, jobs that ask for the same have the same
  /// need; if a job holds it, all jobs have.
  virtual Presence presenceOf(const std::string& partition) const = 0;
  virtual PodRoom room() const = 0;

  /// Ok if the caller may use the allocation. kNotFound, kPermissionDenied.
  virtual Status checkAllocation(const Caller& caller, const std::string& allocation) const = 0;
  /// Likewise for the job's submitter, with its present rights.
  virtual Status checkAllocation(const LeaseRequest& request, const std::string& allocation) const = 0;
  /// The hosts that serve its agents, by name; none: there is no such allocation, or no host serves it.
  virtual std::set<std::string> hostsOf(const std::string& allocation) const = 0;
  /// The partition's allocation; empty: there is no such partition.
  virtual std::string allocationOf(const std::string& partition) const = 0;

  /// Checks a job that is submitted, regardless of who holds partitions now. kInvalidArgument, kNotFound,
  /// kPermissionDenied, kFailedPrecondition.
  virtual Status check(const LeaseRequest& request) = 0;

  /// Makes the partition, or makes it ready, as the job asks for, and if it is (kReady), the job holds it.
  /// A new one gets `block`; null: any that is free. What has changed is written, for the commit of the
  /// caller's own.
  virtual LeaseAnswer take(const LeaseRequest& request, const ChosenBlock* block) = 0;

  /// JobSpec::system of a job that holds its partition, as vipu::systemFor(), or of one that names none.
  virtual Result<std::string> systemOf(const LeaseRequest& request) const = 0;

  /// The job waits again; nothing of it has run since it took its partition.
  virtual void giveBack(std::int64_t job) = 0;

  /// The job has ended, and its hosts are free of it. `partition`: that it has named, or empty.
  virtual void ended(std::int64_t job, const std::string& partition) = 0;

  /// The job has ended, but its hosts may not be free of it: its partition is in quarantine until ended().
  virtual void lost(std::int64_t job, const std::string& why) = 0;

  /// The partition that a job holds; empty: none.
  virtual std::string heldBy(std::int64_t job) const = 0;
  /// Jobs that hold one.
  virtual std::vector<std::int64_t> holders() const = 0;
};

}  // namespace pop::popdistd
