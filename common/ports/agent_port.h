// SPDX-License-Identifier: Apache-2.0
// The agent port: the controller's calls to one host's agent, and the agent's events. Inside poprun these are
// plain calls; for a remote host the wire implements the same interfaces. All calls, in both directions, are
// made on the loop's thread and return at once.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/ports/job_slice.h"

namespace pop {

/// An agent's events for one job. For each instance, onStarted comes first and onClosed last.
class AgentEvents {
 public:
  virtual ~AgentEvents() = default;
  virtual void onStarted(int instance, pid_t pid) = 0;
  virtual void onEnded(int instance, const InstanceEnd& end) = 0;  ///< as soon as it is known
  virtual void onClosed(int instance) = 0;                         ///< all it has written has been delivered
  virtual void onAborted(int instance, int exit_code,
                         const std::string& message) = 0;  ///< it asks to end the job
  /// All instances of this host have entered the fence.
  virtual void onFenceReached(FenceId fence, PutValues values) = 0;

  /// Values that have changed, at most once a second and instance. Only where the slice asks for them.
  virtual void onReported(const std::vector<InstanceValue>& values) = 0;

  /// The agent is gone, with every instance of this host that has not ended. Always the last event.
  virtual void onLost(const Status& why) = 0;
};

/// Takes the instances' output. An implementation keeps the pieces of one instance's stream in order.
class OutputSink {
 public:
  virtual ~OutputSink() = default;

  /// Takes all of `text`. False: the caller should not send more until on_ready is called.
  virtual bool write(int instance, Stream stream, std::string_view text) = 0;
  virtual void setOnReady(std::function<void()> on_ready) = 0;
};

/// A lost agent answers every call, earlier or later, with an error or not at all; run() with onLost. The
/// reasons do not name the host: the caller adds it.
class Agent {
 public:
  virtual ~Agent() = default;

  /// Describes the host, and reserves `port_count` free ports. Call it before each run().
  virtual void describe(int port_count, model::TopologyDetail detail,
                        std::function<void(Result<HostFacts>)> reply) = 0;

  /// Starts every instance of the slice. Call it again only when all instances of the previous run are
  /// closed; their leftover processes are ended first.
  virtual void run(JobSlice slice, AgentEvents& events) = 0;

  /// Sends `signal` unchanged to all running instances.
  virtual void signal(int signal) = 0;

  /// Reports where each running instance is now, as far as that can be found out in a few seconds.
  virtual void traceStacks(std::function<void(std::vector<StackTrace>)> reply) = 0;

  /// Sends SIGTERM to all instances now, and SIGKILL to those left after the slice's grace period. Repeating
  /// it changes nothing.
  virtual void stop() = 0;

  /// Sends SIGKILL to all instances now.
  virtual void kill() = 0;

  /// Every instance of the job has entered the fence: releases this host's instances, with the values of all.
  virtual void releaseFence(FenceId fence, const SharedPutValues& values) = 0;

  /// Tells this host's instances which instances, on any host, have ended, in this order.
  virtual void announce(const SharedEndNotices& end_notices) = 0;
};

}  // namespace pop
