// SPDX-License-Identifier: Apache-2.0
// Drives one job without a terminal: the loop, the job's directory, the door for those who look on. The
// process that runs it is the job's runner; its end is the end of the job.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/model/job_spec.h"
#include "common/os/epoll_loop.h"
#include "common/ports/agent_port.h"
#include "common/ports/controller_port.h"
#include "common/sys/fd.h"
#include "runner/control/door.h"
#include "runner/store/record_store.h"

namespace pop::runner {

struct DetachedJob {
  std::string directory;
  LogBound bound;
};

/// Makes the job's controller with the session's loop, sink of output, and a place for lines for people.
using MakeController = std::function<std::unique_ptr<Controller>(os::EpollLoop& loop, OutputSink& sink,
                                                                 std::function<void(std::string_view)> say)>;

using MakeDoor = std::function<Result<std::unique_ptr<Door>>(os::EpollLoop& loop, DoorEvents events)>;

/// The socket in the job's directory; `begun` is called when the job has begun, and clients can connect.
MakeDoor controlDoor(const std::string& directory, std::function<void()> begun);

/// Runs the job to its end and returns its exit code, when the door needs the session no more. What fails
/// before the job has begun is an error. The outcome is on the disk before any client hears of it. SIGTERM
/// and SIGINT stop the job, or end a session whose job has ended; SIGHUP does nothing.
Result<int> runDetached(const model::JobSpec& spec, const DetachedJob& job,
                        const MakeController& make_controller, const MakeDoor& make_door);

}  // namespace pop::runner
