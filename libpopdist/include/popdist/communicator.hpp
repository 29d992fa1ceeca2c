// SPDX-License-Identifier: Apache-2.0
// Collectives between instances, on memory of the host. For collectives between replicas see pod.hpp.
//
// Common to all calls below
//   Who calls     every member of the communicator, with the same operation, count, type, operator and root,
//                 in the same order. A member that calls something else is an error on all of them; over
//                 messages a member whose part was done by then is told in its next call.
//   Returns       when this member's result is there and its buffers may be used again.
//   In place      where it says so, `in` and `out` may be the same; they must not overlap otherwise.
//   Order         elements are reduced in order of rank where all members share a host, 16-bit types as float
//                 and rounded once; by messages (over hosts, or where POPDIST_TRANSPORT=tcp or
//                 POPDIST_SHARED_ALGORITHM=messages has them) in an order that follows from the count, the
//                 number of members and how they lie on hosts, 16-bit types rounded whenever a partial result
//                 travels: results are bit-identical on all members and from run to run with the same layout.
//   Memory        any, at any address; but a sendRecv of 64 KiB and more from what the system cannot read for
//                 another process, as a device's memory, can fail (docs/adr/0022). On one host buffers of
//                 buffer.hpp are several times as fast. For each member calls take at most 3 MiB of the
//                 host's shared memory, and 512 KiB of its own where the system reads others' memory for it
//                 (with more than 32 members on a host 16 KiB for each of them). Those by messages take up to
//                 4 MiB of shared memory more, 2 MiB of a member's own, over hosts 5 MiB more for partial
//                 results, and 256 KiB for each TCP stream from each member that sends to this one, for as
//                 long as the communicator lives. However long the vectors are, but for the steps by
//                 messages: up to a twentieth of a percent of the vector.
//   Cost          On one host each call waits once for all members. 40 bytes of an allReduce, allGather or
//                 broadcast travel with that; some KiB more are copied in and out, and reduced by each
//                 member for itself. Longer ones, in buffers of buffer.hpp: one pass over the data, of which
//                 each member has a part, and one wait more. In other memory up to 2(n-1)/n of the vector
//                 are copied besides (where nothing is reduced, each block twice), with a wait for each
//                 chunk of up to 512 KiB; or the system reads others' memory, with one or two waits more in
//                 all. Which is the faster, the first calls of a size find out (docs/adr/0024).
//                 By messages a member sends, of a short allReduce, the vector in each of log2(n) rounds, of
//                 a long one 2(n-1)/n of it in 2(n-1) rounds; of a reduceScatter, allGather or allToAll n-1
//                 blocks, one a round. A broadcast, reduce or barrier takes log2(n) rounds; other blocks go
//                 straight to who needs them. Where hosts have several members, n is the number of hosts,
//                 and what a call costs within a host comes on top; but allToAll, gather, scatter, sendRecv,
//                 ragged calls, long reduceScatters, and all where hosts have different numbers of
//                 members, go by messages between all members (docs/adr/0021).
//   Errors        popdist_error, whose text names the call with its tensor, this member's rank, instance and
//                 host, and those of the member to blame. kUnavailable: a member has ended (peer() is its
//                 instance index); kDeadlineExceeded: CallOptions::timeout; kFailedPrecondition: a member
//                 does not match; kResourceExhausted: a member is out of memory. The others learn of it
//                 within a second. Buffers then hold anything; into those of buffer.hpp each other member
//                 may write up to 1 MiB more before it learns of it. Every further call on this communicator
//                 fails with kFailedPrecondition: make a new one.
//                 kInvalidArgument: bad arguments of this member alone; nothing has happened.
//   Threads       one call at a time on a communicator.
// Counts are elements, of any number from 0; n is size().
// From: the operations are MPI's, and so is what their arguments mean; names and operators are PopDist's and
// GCL's.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist {

/// Instead of a rank, in sendRecv.
inline constexpr int kNobody = -1;

/// What a call may be told besides its arguments. Members need not agree on it.
struct CallOptions {
  std::string_view tensor{};                           ///< its name, for messages
  std::optional<std::chrono::milliseconds> timeout{};  ///< instead of Context::timeout(), with its limits
};

class Communicator {
 public:
  class Impl;  // what the library knows of it
  explicit Communicator(std::unique_ptr<Impl> impl);
  /// Of this member alone, between its calls; waits for nobody. Members that call again wait for this one in
  /// vain. Gives all back but its part of the host's shared memory (Context::createCommunicator).
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;

  int rank() const;  ///< of this instance, in [0, size())
  int size() const;

  /// out[i] = `op` over all members of their in[i]. `count` elements in each. In place, if you like.
  void allReduce(const void* in, void* out, std::size_t count, Type type, Operator op = Operator::kSum,
                 const CallOptions& options = {});

  /// out[i] = `op` over all members of their in[rank()*count + i]. `in` has n*count elements and is not
  /// changed, `out` has count, and may be this member's block of `in`.
  void reduceScatter(const void* in, void* out, std::size_t count, Type type, Operator op = Operator::kSum,
                     const CallOptions& options = {});

  /// As allReduce, for member `root` alone; the others' `out` is not used. In place, if you like.
  void reduce(const void* in, void* out, std::size_t count, Type type, Operator op, int root,
              const CallOptions& options = {});

  /// out = the members' `in`s in order of rank: n*count elements; `in` has count. `in` may be nullptr: this
  /// member's block is then in place in `out` already.
  void allGather(const void* in, void* out, std::size_t count, Type type, const CallOptions& options = {});

  /// The same with counts[r] elements of member r: the same n counts on all of them.
  void allGather(const void* in, void* out, std::span<const std::size_t> counts, Type type,
                 const CallOptions& options = {});

  /// data = root's data, on all members; `count` elements.
  void broadcast(void* data, std::size_t count, Type type, int root, const CallOptions& options = {});

  /// As allGather, for member `root` alone, whose `in` may be nullptr; the others' `out` is not used.
  void gather(const void* in, void* out, std::size_t count, Type type, int root,
              const CallOptions& options = {});

  /// out = block rank() of root's `in`, which has n*count elements; `out` has count. The others' `in` is not
  /// used.
  void scatter(const void* in, void* out, std::size_t count, Type type, int root,
               const CallOptions& options = {});

  /// Block j of `in` goes to block rank() of member j's `out`; both have n*count elements and must not
  /// overlap.
  void allToAll(const void* in, void* out, std::size_t count, Type type, const CallOptions& options = {});

  /// The same with blocks of any size, one behind the other: send_counts[j] elements go to member j,
  /// recv_counts[j] come from it. Fails with kFailedPrecondition where they contradict each other.
  void allToAll(const void* in, std::span<const std::size_t> send_counts, void* out,
                std::span<const std::size_t> recv_counts, Type type, const CallOptions& options = {});

  /// Sends `send_count` elements of `in` to member `to`, and receives `recv_count` from member `from` into
  /// `out`, which must not overlap. Either may be this member itself, or kNobody: then its count and buffer
  /// are not used. Unlike MPI_Sendrecv, every member takes part in each call, with kNobody twice if need be:
  /// so partners that do not fit together (what one sends, another does not expect, or in another number)
  /// are kFailedPrecondition on all of them, naming both, and never wait for each other.
  void sendRecv(const void* in, std::size_t send_count, int to, void* out, std::size_t recv_count, int from,
                Type type, const CallOptions& options = {});

  /// Returns when every member has entered.
  void barrier(const CallOptions& options = {});

  /// PopDist's names for two of the above.
  void allReduceSum(void* data, std::size_t count, Type type, const CallOptions& options = {}) {
    allReduce(data, data, count, type, Operator::kSum, options);
  }
  void synchronize(const CallOptions& options = {}) { barrier(options); }

  // The same for typed memory, where one span says all. Other calls have two buffers, or count blocks: they
  // are untyped on purpose.
  template <typename T>
  void allReduce(std::span<T> data, Operator op = Operator::kSum, const CallOptions& options = {}) {
    allReduce(data.data(), data.data(), data.size(), typeOf<T>(), op, options);
  }
  template <typename T>
  void allReduceSum(std::span<T> data, const CallOptions& options = {}) {
    allReduce(data, Operator::kSum, options);
  }
  template <typename T>
  void broadcast(std::span<T> data, int root, const CallOptions& options = {}) {
    broadcast(data.data(), data.size(), typeOf<T>(), root, options);
  }

  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist
