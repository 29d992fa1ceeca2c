// SPDX-License-Identifier: Apache-2.0
// This instance's place in the job, and its link to the others.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "popdist/communicator.hpp"

namespace popdist {

/// The job's value of a name that several instances report: Context::report.
enum class Fold {
  kSum,   ///< such as samples per second
  kMean,  ///< such as a loss
  kMax    ///< such as an epoch, or bytes of memory
};

/// Threads: any thread may call put, get, fence, report, abort and createCommunicator with a name; get and
/// fence take one caller at a time, others wait. Call everything else from one thread at a time. Forks: only
/// the process that made the context can use it and what belongs to it. A forked child gets
/// kFailedPrecondition, also from abort() and when it asks for shared memory; it may destroy the objects that
/// it inherited. Communicators and Pods refer to their context, which must outlive them.
class Context {
 public:
  /// The context of this process, which lives until the process ends. The first call makes it from the
  /// environment: it connects to this host's agent and sets up the communicator of all instances, so every
  /// instance must make that call. Without poprun: one instance with one replica, and no agent.
  /// Throws popdist_error:
  ///   kInvalidArgument     the environment contradicts itself
  ///   kUnavailable         poprun is gone, or another instance has ended
  ///   kDeadlineExceeded    an instance did not make the call within 5 minutes
  ///   kAlreadyExists       another process of this instance has a context
  ///   kFailedPrecondition  several instances that poprun did not start, or a poprun of another version did;
  ///                        what() names another launcher (mpirun, srun, torchrun) and the ways out
  ///   kResourceExhausted   memory cannot be mapped
  /// and the errors of registerBackend, for POPDIST_BACKEND.
  static Context& fromEnvironment();

  class Impl;  // internal
  explicit Context(std::unique_ptr<Impl> impl);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int instanceIndex() const;  ///< in [0, numInstances())
  int numInstances() const;
  int localInstanceIndex() const;  ///< among the instances of this host
  int numTotalReplicas() const;
  int numLocalReplicas() const;    ///< this instance's
  int replicaIndexOffset() const;  ///< global index of this instance's first replica
  int numIpusPerReplica() const;
  const std::string& system() const;  ///< a preset or a system's text; empty: the smallest preset
  bool offline() const;               ///< poprun --offline-mode: no IPU may be attached

  /// Limits the wait for other instances of any call of this context and of its communicators. Default: 5
  /// minutes; at most 24 days (more is taken as 24 days). Time in which this process is stopped, such as by
  /// Ctrl-Z in poprun, does not count if it is more than a second. Throws kInvalidArgument for less than a
  /// millisecond.
  void setTimeout(std::chrono::milliseconds timeout);
  std::chrono::milliseconds timeout() const;

  /// For bindings of languages whose signal handlers do not run in a wait of C++. `check` is called in each
  /// thread of the program that waits in a collective, some 50 times a second; if it returns true, the wait
  /// ends with kCancelled. It must not throw, nor call on this context. nullptr: none.
  void setInterruptCheck(bool (*check)());

  /// Publishes `value` under `key`: every instance can get it after the next fence. Returns at once. A later
  /// put of the same key, by any instance, replaces the value. Limit: 64 MiB for key and value together.
  /// Throws kInvalidArgument (empty key, or one that begins with "popdist/", which is for libpopdist itself),
  /// kResourceExhausted (over the limit), kUnavailable (poprun is gone), or kDeadlineExceeded (this host's
  /// agent takes no more data; put, get and fence then throw kFailedPrecondition).
  void put(const std::string& key, const std::string& value);

  /// The value that an instance put under `key` before the last fence; nullopt if there is none. Cost: one
  /// round trip to this host's agent. Throws kUnavailable (poprun is gone) or kDeadlineExceeded (the agent
  /// does not answer), with the consequences named at put.
  std::optional<std::string> get(const std::string& key);

  /// Returns when every instance has entered. All values that were put before are then visible to all.
  /// Throws kUnavailable (instance peer() has ended, or poprun is gone), kDeadlineExceeded (instance peer()
  /// has not entered), kFailedPrecondition (another instance is in createCommunicator or in Pod's
  /// constructor) or, in a job over several hosts, kResourceExhausted (the instances of this host have put
  /// over 64 MiB for it).
  void fence();

  /// Reports that `name`, such as "samples_per_second", is now `value`. popdistd shows the newest value of
  /// each name, folded over the instances by the `fold` of the first instance that reports it: popctl get
  /// job, its page, its JSON. It looks once a second, and once more when the instance ends: values between
  /// are skipped.
  ///
  /// Costs a few nanoseconds, a dozen with a listener, and no system call: it never waits, whatever becomes
  /// of the listeners. A job that popdistd does not run has no listener; the call does nothing then.
  ///
  /// A job shows 16 names. False: the value is not shown, and the program goes on: it is infinite or not a
  /// number (the last one stays), or this instance has reported 16 other names. Without a listener names are
  /// not counted. A sum that no double can hold is shown as the largest one. Throws kInvalidArgument if
  /// `name` is empty or longer than 64 bytes, with or without a listener.
  bool report(std::string_view name, double value, Fold fold = Fold::kSum);

  /// Ends the whole job: poprun stops all other instances, reports `message` and exits with `exit_code` (1 to
  /// 255). This process exits with that code too, also without poprun. Throws kInvalidArgument for any other
  /// exit code.
  [[noreturn]] void abort(int exit_code, const std::string& message);

  /// The communicator of all instances.
  Communicator& world();

  /// A communicator of the instances `participants`; ranks follow the order of instance indices.
  /// Callers: every instance of the job, also those outside of `participants` (they get nullptr), with the
  /// same set, in the same order among such calls.
  /// Cost: a fence, and shared memory until all its members on a host have destroyed theirs: 1.5 to 3 MiB of
  /// address space for each member, over hosts up to 4 MiB more. Only the part that is used costs memory.
  /// Throws as fence(), and
  ///   kInvalidArgument     `participants` is empty, or names no instance of the job
  ///   kFailedPrecondition  instances ask for different sets
  ///   kResourceExhausted   the segment is full: some 10,000 communicators of 2 members of a host, or 600 of
  ///                        64, live at once. There is then no room for buffers either.
  std::unique_ptr<Communicator> createCommunicator(const std::set<unsigned>& participants);

  /// The same without the other instances: a communicator of the instances `members`, which `name` tells
  /// apart from others that are made at the same time. As MPI_Comm_create_group with its tag.
  /// Callers: the members only, each once, with the same set. From any thread: an instance may make several
  /// at once, and other instances may make them in another order. Two groups with no common member may use
  /// one name; so may a later group, even while the communicator of an earlier one lives.
  /// `name`: from 1 to 200 bytes that do not begin with "popdist/".
  /// Cost: one exchange between the members and the one with the lowest index, over a socket of the host or
  /// TCP; over hosts, or on a backend, two of them. Memory as above. Nothing is kept for the name.
  /// Throws
  ///   kInvalidArgument     as above; this instance is not among `members`; a name that may not be
  ///   kFailedPrecondition  a member makes a communicator of this name with other members, or with other
  ///                        settings, at the same time: what() has both, and all that have come hear it;
  ///                        another thread of this instance is making one of this name
  ///   kUnavailable         member peer() has ended; all others that wait hear it at once
  ///   kDeadlineExceeded    some members have not come within timeout(): what() names them, peer() the first
  ///   kResourceExhausted   as above
  std::unique_ptr<Communicator> createCommunicator(const std::set<unsigned>& members,
                                                   const std::string& name);

  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist
