// SPDX-License-Identifier: Apache-2.0
// Collectives that go on while their caller does something else, matched by name: instances may issue them in
// different orders, and from several threads.
//
// What a call computes, and its buffers, are those of communicator.hpp. What differs:
//   Who calls     every member issues a call of the same name, with the same operation, count, type, operator
//                 and root; in any order and at any time.
//   When          a call is carried out when all members have issued it: one after the other, in an order
//                 that all members agree on. The members tell each other what was issued as soon as they
//                 can; that takes two small all-gathers for any number of calls.
//   Buffers       belong to the call until it is done, also when its Pending is dropped. Counts are copied.
//   Names         of up to kMaxNameBytes, unique among the calls of this instance that are not done: else
//                 popdist_error kAlreadyExists. A name that is done may be used again.
//   Errors        of issuing: kInvalidArgument, for bad arguments. Of Pending::wait: kFailedPrecondition
//                 where members mean different things by a name, which harms no other call; but counts of
//                 an all-to-all, and partners of a sendRecv, are each member's own: those that contradict
//                 each other, and all else, end the communicator, and with it every call that is not done,
//                 on every member: kDeadlineExceeded (a member did not issue the call in time: its name,
//                 who lacks it and what they wait for are in the text), kUnavailable (an instance has
//                 ended), kFailedPrecondition (a member has destroyed its AsyncCommunicator). Issuing then
//                 fails as they did: make a new one.
//   Timeouts      run from when a call is issued, or the one under way is over; not while the process is
//                 stopped. That one has passed may be told a second later. Without a call none runs.
//   Threads       any, at any time. The work is done by one thread of the AsyncCommunicator's own, which
//                 sleeps when there is none; where members do not share one host's memory it wakes up to 20
//                 times a second to see whether another has issued something. libpopdist starts no other.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "popdist/communicator.hpp"

namespace popdist {

inline constexpr std::size_t kMaxNameBytes = 4096;

/// A call that was issued. Copies are of the same call; dropping them leaves it going on.
class Pending {
 public:
  class State;
  explicit Pending(std::shared_ptr<State> state);

  /// Returns when the call is done; throws its popdist_error if it failed. Any number of times, from any
  /// thread.
  void wait() const;

  /// Whether wait() would return (or throw) at once.
  bool done() const;

 private:
  std::shared_ptr<State> state_;
};

class AsyncCommunicator {
 public:
  class Impl;  // what the library knows of it
  /// Takes over a communicator of its own: AsyncCommunicator(context.createCommunicator({0, 1, 2})). Every
  /// member makes one of it; calls wait for those who have not yet. Throws kInvalidArgument for nullptr,
  /// kResourceExhausted when there can be no thread: then it takes nothing over.
  explicit AsyncCommunicator(std::unique_ptr<Communicator>&& communicator);

  /// Calls that are not done by now fail, here and on the other members, unless all have issued them. Waits
  /// for the members to hear of it.
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
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist
