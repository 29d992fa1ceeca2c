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

class Context {
 public:
  /// The context of this process, made from the environment by the first call; without poprun it is one
  /// instance with one replica. Under poprun the first call connects to this host's agent and, since it sets
  /// up the communicator of all instances, must be made by every instance. Throws popdist_error:
  /// kInvalidArgument for an environment that contradicts itself, kUnavailable when poprun is gone or another
  /// instance has ended, kAlreadyExists when another process of this instance has a context already.
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

  /// How long any call of this context and of its communicators waits for others. Default: 30 minutes.
  void setTimeout(std::chrono::milliseconds timeout);
  std::chrono::milliseconds timeout() const;

  /// Offers a value to all instances under `key`, from the next fence on. Keys starting with "popdist/" are
  /// taken. At most 64 MiB together. Returns at once. A later put of the same key, by anyone, replaces it.
  void put(const std::string& key, const std::string& value);

  /// The value that was put under `key` before the last fence, or nothing. One round trip to this host's
  /// agent.
  std::optional<std::string> get(const std::string& key);

  /// Returns when every instance has entered: what anyone has put before is then visible to all.
  /// Throws kUnavailable (an instance has ended; peer() says which) or kDeadlineExceeded (peer() has not
  /// come).
  void fence();

  /// Ends the whole job: poprun reports `message` and exits with `exit_code` (1 to 255), all other instances
  /// are stopped. This process exits with that code; without poprun too. Throws kInvalidArgument for another
  /// exit code.
  [[noreturn]] void abort(int exit_code, const std::string& message);

  /// The communicator of all instances.
  Communicator& world();

  /// A communicator of the instances `participants`, ranks in order of their indices. Collective: every
  /// instance calls with the same set, in the same order; those outside of it get nothing. Cost: a fence.
  std::unique_ptr<Communicator> createCommunicator(const std::set<unsigned>& participants);

  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist
