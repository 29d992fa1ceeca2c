// SPDX-License-Identifier: Apache-2.0
// Collectives that run while their caller does something else. Calls are matched by name, so instances may
// issue them in different orders, and from several threads. Guide: docs/guide/asynchronous_collectives.md.
//
// Calls compute what they compute in communicator.hpp, on the same buffers. The differences:
//
// Callers
//   - Every member issues a call of the same name, with the same operation, count, type, operator and root;
//     in any order, at any time, from any thread.
// When it runs
//   - When all members have issued it. Calls run one after the other, in an order that all members agree on.
//   - Members tell each other what was issued as soon as they can. This takes two small all-gathers for any
//     number of calls.
// Buffers
//   - Belong to the call until it is done, even if its Pending is dropped. Counts are copied.
// Names
//   - Up to kMaxNameBytes long, and unique among the calls of this instance that are not done: else issuing
//     throws kAlreadyExists. After a call is done its name may be used again.
// Errors
//   - Issuing throws kInvalidArgument for bad arguments; after the end of the communicator it throws the
//     error that ended it. All other errors are thrown by Pending::wait.
//   - kFailedPrecondition, and the communicator goes on: members mean different things by a name. No other
//     call is harmed.
//   - All other errors end the communicator, and with it every call that is not done, on every member. Make a
//     new one.
//       kFailedPrecondition: counts of an all-to-all or partners of a sendRecv contradict each other (each
//                            member chooses its own); or a member has destroyed its AsyncCommunicator.
//       kDeadlineExceeded:   a member did not issue the call in time. The text has the name, the members that
//                            lack it and what they wait for.
//       kUnavailable:        an instance has ended.
// Timeouts
//   - Run from when a call is issued, or from the end of the call under way; not while the process is
//     stopped, and not while there is no call. An error may come up to a second late.
// Threads
//   - One thread of the AsyncCommunicator does the work, and sleeps when there is none. If members do not
//     share one host's memory, it wakes up to 20 times a second to see whether another has issued something.
//     libpopdist starts no other thread for these calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "popdist/communicator.hpp"
#include "popdist/held.hpp"

namespace popdist {

inline constexpr std::size_t kMaxNameBytes = 4096;

/// A call that was issued. Copies refer to the same call. It goes on when all of them are dropped.
class Pending {
 public:
  class State;
  explicit Pending(std::shared_ptr<State> state);

  /// Returns when the call is done; throws its popdist_error if it failed. May be called any number of times,
  /// from any thread.
  void wait() const;

  /// The same, for `limit` at most. False: the call is not done. It goes on, and its errors come later.
  bool waitFor(std::chrono::milliseconds limit) const;

  /// True if wait() would return (or throw) at once.
  bool done() const;

 private:
  std::shared_ptr<State> state_;
};

/// Returns the position of a call that is done, the first if there are several; whether it has failed, its
/// wait() says. nullopt: none of them was done within `limit`, or there is none.
std::optional<std::size_t> waitAny(std::span<const Pending> calls, std::chrono::milliseconds limit);

class AsyncCommunicator {
 public:
  class Impl;  // internal
  /// Takes over a communicator: AsyncCommunicator(context.createCommunicator({0, 1, 2})). Every member makes
  /// one; until the last has, calls wait. Throws kInvalidArgument for nullptr, and kResourceExhausted when no
  /// thread can be started; the caller then keeps the communicator.
  explicit AsyncCommunicator(std::unique_ptr<Communicator>&& communicator);

  /// Calls that not all members have issued fail, here and on the other members; the others are carried out.
  /// Waits until the other members know of it.
  ~AsyncCommunicator();
  AsyncCommunicator(AsyncCommunicator&&) noexcept;
  AsyncCommunicator& operator=(AsyncCommunicator&&) noexcept;

  int rank() const;
  int size() const;

  using Timeout = std::optional<std::chrono::milliseconds>;  ///< as CallOptions::timeout

  Pending allReduce(const std::string& name, const void* in, void* out, std::size_t count, Type type,
                    Operator op = Operator::kSum, Timeout timeout = {});
  Pending reduceScatter(const std::string& name, const void* in, void* out, std::size_t count, Type type,
                        Operator op = Operator::kSum, Timeout timeout = {});
  Pending reduce(const std::string& name, const void* in, void* out, std::size_t count, Type type,
                 Operator op, int root, Timeout timeout = {});
  Pending allGather(const std::string& name, const void* in, void* out, std::size_t count, Type type,
                    Timeout timeout = {});
  Pending allGather(const std::string& name, const void* in, void* out, std::span<const std::size_t> counts,
                    Type type, Timeout timeout = {});
  Pending broadcast(const std::string& name, void* data, std::size_t count, Type type, int root,
                    Timeout timeout = {});
  Pending gather(const std::string& name, const void* in, void* out, std::size_t count, Type type, int root,
                 Timeout timeout = {});
  Pending scatter(const std::string& name, const void* in, void* out, std::size_t count, Type type, int root,
                  Timeout timeout = {});
  Pending allToAll(const std::string& name, const void* in, void* out, std::size_t count, Type type,
                   Timeout timeout = {});
  Pending allToAll(const std::string& name, const void* in, std::span<const std::size_t> send_counts,
                   void* out, std::span<const std::size_t> recv_counts, Type type, Timeout timeout = {});
  Pending sendRecv(const std::string& name, const void* in, std::size_t send_count, int to, void* out,
                   std::size_t recv_count, int from, Type type, Timeout timeout = {});
  Pending barrier(const std::string& name, Timeout timeout = {});

  Impl& impl() { return *impl_; }

 private:
  popdist::detail::Held<Impl, "AsyncCommunicator"> impl_;
};

}  // namespace popdist
