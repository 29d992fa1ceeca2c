// SPDX-License-Identifier: Apache-2.0
// The controller port: one job, from its submission to its end. poprun drives a job on this host and one on
// several through it alike. All calls, in both directions, are made on the loop's thread.
#pragma once

#include <functional>
#include <vector>

#include "common/base/status.h"
#include "common/model/job_spec.h"
#include "common/ports/job_report.h"

namespace pop {

/// Callbacks to the submitter of a job.
struct JobWatch {
  std::function<void(const LogEntry&)> event;  ///< everything that happens to the job
  /// Host of each instance, by its index, before anything starts: at the first attempt, and when hosts
  /// have been left out. May be empty.
  std::function<void(const std::vector<PlacedInstance>& instances)> placed;
  std::function<void(const JobOutcome& failed, int restart)> restarting;  ///< a failure that is not the end
  /// The reports of the attempt's instances so far, when it has changed, at most once a second and
  /// before `done`. Empty: no client wants them, and instances that report have no work with it.
  std::function<void(const std::vector<JobValue>& values)> reported;
  std::function<void(const JobOutcome&)> done;  ///< once, when nothing of it is left
};

class Controller {
 public:
  virtual ~Controller() = default;

  /// Starts the job; `spec` is free of mistakes. Once.
  virtual Status submit(model::JobSpec spec, JobWatch watch) = 0;

  /// The user's signal: the first stops the job with grace, the next kills it.
  virtual void stop(int user_signal) = 0;

  /// Passes `signal` on to all instances.
  virtual void signal(int signal) = 0;

  /// The user's Ctrl-Z: stops all instances, and calls `stopped` when this process can be stopped as well:
  /// from then on nobody takes its silence for its end. SIGCONT to the instances ends that; before the call
  /// of `stopped`, there is none.
  virtual void suspend(std::function<void()> stopped) = 0;

  /// Ends what is left of the job on every host that can be reached, whatever happened before. The loop has
  /// been stopped. Once.
  virtual Status shutDown() = 0;
};

}  // namespace pop
