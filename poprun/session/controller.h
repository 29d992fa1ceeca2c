// SPDX-License-Identifier: Apache-2.0
// The controller port, as the command line sees it. In process (local_controller.h) or, one day, a popdistd.
#pragma once

#include <functional>

#include "common/base/status.h"
#include "common/model/job_spec.h"
#include "popdistd/controller/event_log.h"
#include "popdistd/controller/exit_policy.h"

namespace pop {

class Controller {
 public:
  virtual ~Controller() = default;

  struct Watch {
    EventLog::Listener event;                     ///< everything that happens to the job
    std::function<void(const JobOutcome&)> done;  ///< once, when nothing of it is left
  };

  /// Starts the job; `spec` is free of mistakes. Once.
  virtual Status submit(model::JobSpec spec, Watch watch) = 0;

  /// The user's signal: the first stops the job with grace, the next kills it.
  virtual void stop(int user_signal) = 0;
};

}  // namespace pop
