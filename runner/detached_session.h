// SPDX-License-Identifier: Apache-2.0
// Drives one job without a terminal: the loop, the job's directory, the clients that come and go. The process
// that runs it is the job's runner; its end is the end of the job.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/model/job_spec.h"
#include "common/os/epoll_loop.h"
#include "common/ports/agent_port.h"
#include "common/ports/controller_port.h"
#include "common/sys/fd.h"
#include "runner/store/record_store.h"

namespace pop::runner {

struct DetachedJob {
  std::string directory;
  LogBound bound;
};

/// Makes the job's controller with the session's loop, sink of output, and a place for lines for people.
using MakeController = std::function<std::unique_ptr<Controller>(os::EpollLoop& loop, OutputSink& sink,
                                                                 std::function<void(std::string_view)> say)>;

/// Runs the job to its end and returns its exit code. `listening` is called when clients can connect; what
/// fails before is an error. The outcome is on the disk before any client hears of it. SIGTERM and SIGINT
/// stop the job, SIGHUP does nothing.
Result<int> runDetached(const model::JobSpec& spec, const DetachedJob& job, const MakeController& make,
                        const std::function<void()>& listening);

}  // namespace pop::runner
