// SPDX-License-Identifier: Apache-2.0
// Drives one job from its submission to poprun's exit code: the loop, the user's signals, the output, the
// summary.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/model/job_spec.h"
#include "common/os/epoll_loop.h"
#include "common/ports/controller_port.h"
#include "poprun/ui/output_mux.h"

namespace pop {

struct SessionSettings {
  OutputSettings output;
  std::string before_output;     ///< printed on stdout before any output of the instances
  bool report_bindings = false;  ///< print the CPUs and memory of each instance on stderr
  std::string program_hint;      ///< of the summary
};

/// Reports why poprun itself failed, and returns the exit code for that.
int launcherFailed(const Status& status);

/// Makes the controller of the job, with the session's loop and output.
using ControllerMaker = std::function<std::unique_ptr<Controller>(os::EpollLoop& loop, OutputMux& mux)>;

/// Runs the job to its end and returns poprun's exit code. sys::setUpForJobs() must have set up the process.
int runSession(const model::JobSpec& spec, const SessionSettings& settings, const ControllerMaker& make);

/// Runs the job on this host. Call it while the process has a single thread: it forks the keeper.
int runJob(const model::JobSpec& spec, const SessionSettings& settings);

}  // namespace pop
