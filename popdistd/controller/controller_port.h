// SPDX-License-Identifier: Apache-2.0
// The controller port, as the command line sees it: for a job on this host (local_controller.h) or on several
// (hosts_controller.h).
#pragma once

#include <functional>

#include "common/base/status.h"
#include "common/model/job_spec.h"
#include "popdistd/controller/job.h"

namespace pop {

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
