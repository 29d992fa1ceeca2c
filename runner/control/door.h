// SPDX-License-Identifier: Apache-2.0
// Access of a job's viewers to the session that runs it: by the socket in its directory, or by a stream
// that the session was started with.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/ports/job_report.h"

namespace pop::runner {

/// Requests of the viewers to the job.
struct DoorEvents {
  std::function<void(int signal)> stop;  ///< the first with grace, the next kills
  std::function<void(int signal)> signal;
  std::function<void()> service_stops;  ///< the agent service ends, and so the job; a stop follows
};

/// Called on the loop's thread.
class Door {
 public:
  virtual ~Door() = default;

  /// The job has begun, and has records up to `last_sequence`.
  virtual void begun(std::uint64_t last_sequence) = 0;
  /// There are new records.
  virtual void appended() = 0;
  /// True if it passes on the reports of the job's instances.
  virtual bool wantsReported() const { return false; }
  virtual void reported(const std::vector<JobValue>& values) { static_cast<void>(values); }
  /// No records will follow. The door calls `leave`, now or from the loop, when it needs the session no more.
  virtual void ended(std::function<void()> leave) = 0;
};

}  // namespace pop::runner
