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
  std::string before_output;     ///< printed on stdout before anything of the instances
  bool report_bindings = false;  ///< on stderr, which CPUs and memory each instance gets
  std::string program_hint;      ///< of the summary
};

/// Says why poprun itself failed; its exit code for that.
int launcherFailed(const Status& status);

/// Makes what drives the job, with the session's loop and output.
using ControllerMaker = std::function<std::unique_ptr<Controller>(os::EpollLoop& loop, OutputMux& mux)>;

/// Runs the job to its end, in a process that sys::setUpForJobs() has set up; poprun's exit code.
int runSession(const model::JobSpec& spec, const SessionSettings& settings, const ControllerMaker& make);

/// On this host. Call it while the process has a single thread: the keeper is forked here.
int runJob(const model::JobSpec& spec, const SessionSettings& settings);

}  // namespace pop
