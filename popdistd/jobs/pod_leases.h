// SPDX-License-Identifier: Apache-2.0
// What the lives of jobs ask of partitions: a job that names one starts when it is there for it, and holds it
// until its end is proved. popdistd/pods answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/model/job_spec.h"

namespace pop::popdistd {

/// A job, as far as its partition is concerned.
struct LeaseRequest {
  std::int64_t job = 0;
  const std::string& user;
  const model::JobSpec& spec;
};

struct LeaseAnswer {
  enum class Kind : std::uint8_t {
    kReady,      ///< the job may start, or names no partition
    kPreparing,  ///< its partition is being configured for it: it keeps what else it needs
    kWaits,      ///< for others
    kNever,      ///< as it is submitted
  } kind = Kind::kReady;
  std::string reason;       ///< why it does not start, for people
  bool takes_ipus = false;  ///< it needs IPUs that nobody owns, of one of the user's allocations or
  std::string allocation;   ///< of this one
};

class PodLeases {
 public:
  virtual ~PodLeases() = default;

  /// What is wrong with a job that is submitted, whatever else holds partitions. kInvalidArgument,
  /// kNotFound, kPermissionDenied, kFailedPrecondition.
  virtual Status check(const LeaseRequest& request) = 0;

  /// Whether the job could start now. Changes nothing.
  virtual LeaseAnswer look(const LeaseRequest& request) = 0;

  /// Makes the partition, or makes it ready, as the job asks for, and if it is (kReady), the job holds it.
  /// What has changed is written, for the commit of the caller's own.
  virtual LeaseAnswer take(const LeaseRequest& request) = 0;

  /// The job waits again; nothing of it has run since it took its partition.
  virtual void giveBack(std::int64_t job) = 0;

  /// The job has ended, and its hosts are free of it. `partition`: that it has named, or empty.
  virtual void ended(std::int64_t job, const std::string& partition) = 0;

  /// The job has ended, and nobody knows whether its hosts are free of it: its partition is in quarantine
  /// until ended().
  virtual void lost(std::int64_t job, const std::string& why) = 0;

  /// The partition that a job holds; empty: none.
  virtual std::string heldBy(std::int64_t job) const = 0;
  /// Jobs that hold one.
  virtual std::vector<std::int64_t> holders() const = 0;
};

}  // namespace pop::popdistd
