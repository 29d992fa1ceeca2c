// SPDX-License-Identifier: Apache-2.0
// Who this instance is, and its link to the others.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "popdist/communicator.hpp"

namespace popdist {

/// Threads: put, get, fence and abort from any, one at a time inside get and fence; all else from one thread
/// at a time. Forks: only the process that made the context can use it and what belongs to it; a child gets
/// kFailedPrecondition, also from abort() and for new shared memory, and may destroy what it has got of its
/// parent. Communicators and Pods refer to their context, which must outlive them.
class Context {
 public:
  /// The context of this process, made from the environment by the first call; without poprun it is one
  /// instance with one replica. Under poprun the first call connects to this host's agent and, since it sets
  /// up the communicator of all instances, must be made by every instance. Throws popdist_error:
  /// kInvalidArgument for an environment that contradicts itself, kUnavailable when poprun is gone or another
  /// instance has ended, kDeadlineExceeded when one does not come within 5 minutes, kAlreadyExists when
  /// another process of this instance has a context already, kFailedPrecondition when several instances were
  /// not started by poprun or by one of another version, kResourceExhausted when memory cannot be mapped; and
  /// as registerBackend, for POPDIST_BACKEND. It lives until the process ends.
  static Context& fromEnvironment();

  class Impl;  // what the library knows of it
  explicit Context(std::unique_ptr<Impl> impl);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int instanceIndex() const;  ///< in [0, numInstances())
  int numInstances() const;
  int localInstanceIndex() const;  ///< among the instances of this host
  int numTotalReplicas() const;
  int numLocalReplicas() const;    ///< of this instance
  int replicaIndexOffset() const;  ///< global index of this instance's first replica
  int numIpusPerReplica() const;
  const std::string& system() const;  ///< preset of the Pod to emulate; empty: the smallest that fits
  bool offline() const;               ///< poprun --offline-mode: no IPU may be attached

  /// How long any call of this context and of its communicators waits for others. Default: 5 minutes. Time in
  /// which this process is stopped, as by Ctrl-Z in poprun, is not counted where it is more than a second.
  /// Throws kInvalidArgument for less than a millisecond; more than 24 days are 24 days.
  void setTimeout(std::chrono::milliseconds timeout);
  std::chrono::milliseconds timeout() const;

  /// Offers a value to all instances under `key`, from the next fence on. Keys starting with "popdist/" are
  /// taken. At most 64 MiB together. Returns at once. A later put of the same key, by anyone, replaces it.
  /// Throws kInvalidArgument for an empty key, kResourceExhausted for more than 64 MiB at once, kUnavailable
  /// when poprun is gone, kDeadlineExceeded when this host's agent takes nothing more: put, get and fence
  /// then fail with kFailedPrecondition.
  void put(const std::string& key, const std::string& value);

  /// The value that was put under `key` before the last fence, or nothing. One round trip to this host's
  /// agent. Throws as put: kUnavailable, and kDeadlineExceeded when the agent does not answer.
  std::optional<std::string> get(const std::string& key);

  /// Returns when every instance has entered: what anyone has put before is then visible to all.
  /// Throws kUnavailable (an instance has ended, peer() says which; or poprun is gone), kDeadlineExceeded
  /// (peer() has not come), kFailedPrecondition (another is in createCommunicator, or in Pod's constructor)
  /// or, in a job over hosts, kResourceExhausted (this host's instances have put more than 64 MiB for it).
  void fence();

  /// Ends the whole job: poprun reports `message` and exits with `exit_code` (1 to 255), all other instances
  /// are stopped. This process exits with that code; without poprun too. Throws kInvalidArgument for another
  /// exit code.
  [[noreturn]] void abort(int exit_code, const std::string& message);

  /// The communicator of all instances.
  Communicator& world();

  /// A communicator of the instances `participants`, ranks in order of their indices. Collective: every
  /// instance calls with the same set, in the same order; those outside of it get nothing. Cost: a fence,
  /// and shared memory that is given back only when the job ends: 1.5 to 3 MiB of address space for each
  /// member, over hosts up to 4 MiB more, of which what is used costs memory. Throws as fence(), and
  /// kInvalidArgument for nobody, or who is no instance; kFailedPrecondition when instances ask for different
  /// ones; kResourceExhausted when the segment is full: after some 10,000 communicators of 2 members of a
  /// host, or 600 of 64. Shared memory for buffers has no room then, either.
  std::unique_ptr<Communicator> createCommunicator(const std::set<unsigned>& participants);

  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist
