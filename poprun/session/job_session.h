// SPDX-License-Identifier: Apache-2.0
// Drives one job from its submission to poprun's exit code: the loop, the user's signals, the output, the
// summary.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/model/job_spec.h"
#include "common/os/epoll_loop.h"
#include "common/ports/controller_port.h"
#include "poprun/ui/output_mux.h"

namespace pop {

/// Objects that a session gives to the controller of its job.
struct SessionOutput {
  OutputSink& sink;                           ///< of the instances' output
  std::function<void(std::string_view)> say;  ///< takes lines for people
};

/// Makes the controller of the job, with the session's loop and output.
using ControllerMaker =
    std::function<std::unique_ptr<Controller>(os::EpollLoop& loop, const SessionOutput& output)>;

/// Runs a job in some other way than on a terminal, and returns poprun's exit code.
using OtherSession = std::function<int(const model::JobSpec& spec, const ControllerMaker& make)>;

struct SessionSettings {
  OutputSettings output;
  std::string before_output;     ///< printed on stdout before any output of the instances
  bool report_bindings = false;  ///< print the CPUs and memory of each instance on stderr
  std::string program_hint;      ///< of the summary
  std::optional<std::chrono::system_clock::time_point> begun;  ///< of a job that began before the session
  OtherSession other;                                          ///< null: on the terminal
};

/// Reports why poprun itself failed, and returns the exit code for that.
int launcherFailed(const Status& status);

/// Runs the job to its end and returns poprun's exit code. sys::setUpForJobs() must have set up the process.
int runSession(const model::JobSpec& spec, const SessionSettings& settings, const ControllerMaker& make);

/// Runs the job on this host. Call it while the process has a single thread: it forks the keeper.
int runJob(const model::JobSpec& spec, const SessionSettings& settings);

}  // namespace pop
