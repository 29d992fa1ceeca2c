// SPDX-License-Identifier: Apache-2.0
// The agent port: what the controller asks of one host's agent, and what it hears back. In one process with
// poprun these are plain calls; for a remote host the wire is another implementation of the same interfaces.
// All calls, in both directions, are made on the loop's thread and return at once.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/contract/env_contract.h"
#include "common/contract/env_frameworks.h"
#include "common/contract/exit_code.h"
#include "common/model/binding.h"
#include "common/model/job_spec.h"

namespace pop {

/// What an agent says of its host before a job is placed on it.
struct HostFacts {
  std::string address;     ///< at which the other hosts reach this one
  std::vector<int> ports;  ///< free ones, kept so until the instances start
  model::HostTopology topology;
};

/// One instance, as its agent is asked to start it.
struct InstanceOrder {
  contract::InstanceEnv env;
  contract::InstancePlace place;
  int program = 0;  ///< index into JobSlice::programs
  model::Binding binding;
};

/// The part of a job that one host runs.
struct JobSlice {
  std::string job_id;
  int num_instances = 1;                 ///< of the whole job
  std::vector<model::Program> programs;  ///< of the whole job
  std::vector<InstanceOrder> instances;  ///< of this host
  contract::Rendezvous rendezvous;
  contract::PoplarTarget poplar;
  contract::EnvFamilies env_families;
  std::vector<contract::Variable> environment;  ///< the user's, for all instances
  model::StdinPolicy stdin_policy;
  std::chrono::milliseconds kill_grace{0};
};

/// How an instance ended.
struct InstanceEnd {
  contract::ExitStatus status;  ///< when it could not be started: code 126 or 127
  std::string reason;           ///< when the status does not say it: "could not be started: …"; else empty
};

/// Where an instance was when somebody asked.
struct StackTrace {
  int instance = 0;
  pid_t pid = 0;
  std::string text;  ///< lines
};

/// Told to every instance that still runs.
struct Obituary {
  int instance = 0;
  bool clean = false;  ///< it exited with code 0
  std::string text;    ///< "instance 2 (pid 712) was killed by SIGKILL"
};

/// What instances have put, by key.
using PutValues = std::map<std::string, std::string>;

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
};

enum class Stream : std::uint8_t { kStdout, kStderr };

/// Takes what the instances write. An implementation keeps the pieces of one instance's stream in order.
class OutputSink {
 public:
  virtual ~OutputSink() = default;

  /// Takes all of `text`. False: it would rather have no more until it calls back on_ready.
  virtual bool write(int instance, Stream stream, std::string_view text) = 0;
  virtual void setOnReady(std::function<void()> on_ready) = 0;
};

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
  virtual void releaseFence(const PutValues& values) = 0;

  /// Tells this host's instances that another one, anywhere, has ended.
  virtual void announce(const Obituary& obituary) = 0;
};

}  // namespace pop
