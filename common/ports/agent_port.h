// SPDX-License-Identifier: Apache-2.0
// The agent port: what the controller asks of one host's agent, and what it hears back. In one process with
// poprun these are plain calls; for a remote host the wire is another implementation of the same interfaces.
// All calls, in both directions, are made on the loop's thread and return at once.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/ports/job_slice.h"

namespace pop {

/// An agent's reports on one job. onStarted comes first, onClosed last for each instance.
class AgentEvents {
 public:
  virtual ~AgentEvents() = default;
  virtual void onStarted(int instance, pid_t pid) = 0;
  virtual void onEnded(int instance, const InstanceEnd& end) = 0;  ///< as soon as it is known
  virtual void onClosed(int instance) = 0;                         ///< all it has written has been delivered
  virtual void onAborted(int instance, int exit_code,
                         const std::string& message) = 0;  ///< it asks to end the job
  virtual void onFenceReached(PutValues values) = 0;  ///< all instances of this host have entered the fence

  /// The agent is gone, and with it every instance of this host that has not ended; its last call.
  virtual void onLost(const Status& why) = 0;
};

/// Takes what the instances write. An implementation keeps the pieces of one instance's stream in order.
class OutputSink {
 public:
  virtual ~OutputSink() = default;

  /// Takes all of `text`. False: it would rather have no more until it calls back on_ready.
  virtual bool write(int instance, Stream stream, std::string_view text) = 0;
  virtual void setOnReady(std::function<void()> on_ready) = 0;
};

/// An agent that is lost answers everything that is asked of it, before or after, with an error or with
/// nothing; run() with onLost. The reasons do not name the host: whoever tells people does.
class Agent {
 public:
  virtual ~Agent() = default;

  /// Facts of the host, with `port_count` free ports. Before each run().
  virtual void describe(int port_count, model::TopologyDetail detail,
                        std::function<void(Result<HostFacts>)> reply) = 0;

  /// Starts every instance of the slice. Again only when all instances of the run before are closed: what
  /// they left behind is ended first.
  virtual void run(JobSlice slice, AgentEvents& events) = 0;

  /// `signal` to all instances that run, as it is.
  virtual void signal(int signal) = 0;

  /// Where each instance that runs is now, as well as can be found out in a few seconds.
  virtual void traceStacks(std::function<void(std::vector<StackTrace>)> reply) = 0;

  /// SIGTERM to all instances now, SIGKILL to what is left after the slice's grace. Repeating it changes
  /// nothing.
  virtual void stop() = 0;

  /// SIGKILL to all instances now.
  virtual void kill() = 0;

  /// Every instance of the job has entered the fence: lets this host's go on, with everybody's values.
  virtual void releaseFence(const SharedPutValues& values) = 0;

  /// Tells this host's instances that others, anywhere, have ended, in this order.
  virtual void announce(const SharedEndNotices& end_notices) = 0;
};

}  // namespace pop
