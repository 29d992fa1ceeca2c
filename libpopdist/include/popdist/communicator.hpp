// SPDX-License-Identifier: Apache-2.0
// Collectives between instances, on memory of the host. Collectives between replicas: pod.hpp.
// A first program, step by step: docs/guide/first_collective.md.
//
// The rules below hold for every call. n is size(). Counts are numbers of elements, from 0 on. "By messages"
// means: over hosts, and wherever POPDIST_TRANSPORT=tcp or POPDIST_SHARED_ALGORITHM=messages asks for it.
//
// Callers
//   - Every member, with the same operation, count, type, operator and root, in the same order.
//   - One call at a time on a communicator. Two threads at once get kFailedPrecondition, and the communicator
//     has failed for all members.
//   - If a member makes another call, all members get an error. By messages, a member whose part was already
//     done gets it in its next call.
//   - If members call on different communicators, and each has one thread that calls, they wait for each
//     other: on one host that is an error, too, after 500 ms (docs/adr/0087).
// When it returns
//   - This member's result is complete, and its buffers may be used again.
// Buffers
//   - Any memory of the host, at any address. On one host, buffers of buffer.hpp are several times as fast.
//   - `in` and `out` must not overlap. Where a call says "in place", they may be the same.
//   - A sendRecv of 64 KiB and more can fail if the system cannot read the memory for another process
//     (process_vm_readv), as with mapped device memory (docs/adr/0022).
// Order of reduction
//   - On one host: in order of rank. 16-bit types are added as float and rounded once.
//   - By messages: the order follows from the count, the number of members and how they lie on hosts. 16-bit
//     types are rounded whenever a partial result travels.
//   - Results are bit-identical on all members, and from run to run with the same layout.
// Errors: popdist_error. Its text names the call and its tensor; rank, instance and host of this member; and
// those of the member to blame.
//   - kUnavailable: a member has ended; peer() is its instance index.
//   - kDeadlineExceeded: the time of CallOptions::timeout is over.
//   - kCancelled: a member's CallOptions::stop, or its Context::setInterruptCheck, has asked to end the wait.
//   - kFailedPrecondition: a member made a call that does not match.
//   - kResourceExhausted: a member is out of memory.
//   - kInvalidArgument: bad arguments of this member alone. Nothing has happened; the next call may follow.
// After any error but kInvalidArgument
//   - The other members get an error too, within a second of entering the call. One that enters it last may
//     find all others there, and gets the error in its next call.
//   - Buffers hold undefined values. Until it gets the error, each other member may still write up to 1 MiB
//     into buffers of buffer.hpp.
//   - Every further call on this communicator throws kFailedPrecondition. Make a new communicator.
// Memory of each member, while the communicator lives; independent of the length of vectors but for (*)
//   - At most 3 MiB of the host's shared memory.
//   - 512 KiB of its own, where the system reads other members' memory for it; with more than 32 members on a
//     host, 16 KiB for each of them.
//   - By messages also: 4 MiB of shared memory, 2 MiB of its own, over hosts 5 MiB for partial results, 256
//     KiB for each TCP stream from each member that sends to it, and (*) for the list of steps up to a
//     twentieth of a percent of the vector.
// Cost on one host: each call waits once for all members. In addition:
//   - allReduce, allGather, broadcast of up to 40 bytes: nothing, the data travels with that wait.
//   - Some KiB: copied in and out; each member reduces for itself.
//   - Longer, in buffers of buffer.hpp: one pass over the data, divided among the members, and one wait more.
//   - Longer, in other memory: the faster of two ways, which the first calls of a size find out
//     (docs/adr/0024). Either up to 2(n-1)/n of the vector is copied (where nothing is reduced, each block
//     twice), with a wait for each chunk of up to 512 KiB; or the system reads other members' memory, with
//     one or two waits more in all.
// Cost by messages: what a member sends
//   - allReduce, short: the vector in each of log2(n) rounds; long: 2(n-1)/n of it in 2(n-1) rounds.
//   - reduceScatter, allGather, allToAll: n-1 blocks, one in each round.
//   - broadcast, reduce, barrier: log2(n) rounds.
//   - gather, scatter, sendRecv: each block goes straight to its receiver.
//   - Where hosts have several members, n is the number of hosts, and the cost within a host is added. But
//     these go by messages between all members (docs/adr/0021): allToAll, gather, scatter, sendRecv, ragged
//     calls, and a reduceScatter that is long or whose hosts have different numbers of members.
//
// From: operations and their arguments mean what they mean in MPI; names and operators are those of PopDist
// and GCL.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <utility>

#include "popdist/held.hpp"
#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist {

/// In place of a rank in sendRecv: no member.
inline constexpr int kNobody = -1;

/// Optional settings of one call. Members may use different ones.
struct CallOptions {
  std::string_view tensor{};                           ///< its name, for error texts
  std::optional<std::chrono::milliseconds> timeout{};  ///< in place of Context::timeout(), with its limits
  /// Ends the wait for other members within 20 ms of a request, with kCancelled on all members. If they all
  /// come at the same moment, the call may succeed.
  std::stop_token stop{};
};

template <typename R>
using ElementOf = typename decltype(std::span(std::declval<R>()))::element_type;

/// Contiguous elements that may be written: a std::vector, std::array, std::span or array.
template <typename R>
concept Elements = requires(R&& data) {
  std::span(data);
}
&&!std::is_const_v<ElementOf<R>>;

/// Contiguous elements to read.
template <typename R>
concept ConstElements = requires(R&& data) {
  std::span(data);
};

/// One element: a value of a type that has a popdist::Type.
template <typename T>
concept Element = std::is_arithmetic_v<T> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

/// For calls in place of something else: one sentence, in place of a list of candidates.
template <typename R>
void refuseInPlace() {
  constexpr bool is_span = requires(std::remove_reference_t<R> & data) {
    std::span(data);
  };
  static_assert(!is_span,
                "popdist: a collective in place writes into its data, which is const here: give it a "
                "std::vector, std::array or std::span of elements that may be written");
  static_assert(is_span,
                "popdist: a collective takes contiguous elements (a std::vector, std::array, std::span or "
                "array) or a single value of an element type");
}
template <typename R>
concept NoElements = !Elements<R> && !Element<std::remove_cvref_t<R>>;

class Communicator {
 public:
  class Impl;  // internal
  explicit Communicator(std::unique_ptr<Impl> impl);
  /// Local, not collective: call it between this member's calls; it never blocks. Later calls of other
  /// members time out waiting for this one. Releases everything; the host's shared memory is used again once
  /// all members there have released it.
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;

  int rank() const;  ///< this instance's rank, in [0, size())
  int size() const;

  /// out[i] = `op` over all members' in[i]. Both have `count` elements. In place: yes.
  void allReduce(const void* in, void* out, std::size_t count, Type type, Operator op = Operator::kSum,
                 const CallOptions& options = {});

  /// out[i] = `op` over all members' in[rank()*count + i]. `in` has n*count elements, `out` has count. `in`
  /// is not changed, unless `out` is this member's block of it, which is allowed.
  void reduceScatter(const void* in, void* out, std::size_t count, Type type, Operator op = Operator::kSum,
                     const CallOptions& options = {});

  /// As allReduce, but only member `root` gets the result; `out` of the others is not used. In place: yes.
  void reduce(const void* in, void* out, std::size_t count, Type type, Operator op, int root,
              const CallOptions& options = {});

  /// out = the members' `in` in order of rank. `in` has count elements, `out` has n*count. In place: with
  /// `in` nullptr, this member's block is already in its place in `out`.
  void allGather(const void* in, void* out, std::size_t count, Type type, const CallOptions& options = {});

  /// The same with counts[r] elements from member r. All members pass the same n counts.
  void allGather(const void* in, void* out, std::span<const std::size_t> counts, Type type,
                 const CallOptions& options = {});

  /// data = root's data, on all members. `count` elements.
  void broadcast(void* data, std::size_t count, Type type, int root, const CallOptions& options = {});

  /// As allGather, but only member `root` gets the result, and only its `in` may be nullptr; `out` of the
  /// others is not used.
  void gather(const void* in, void* out, std::size_t count, Type type, int root,
              const CallOptions& options = {});

  /// out = block rank() of root's `in`. `in` has n*count elements, `out` has count. `in` of the others is not
  /// used.
  void scatter(const void* in, void* out, std::size_t count, Type type, int root,
               const CallOptions& options = {});

  /// Block j of `in` goes to block rank() of member j's `out`; both have n*count elements and must not
  /// overlap.
  void allToAll(const void* in, void* out, std::size_t count, Type type, const CallOptions& options = {});

  /// The same with blocks of any size, without gaps: send_counts[j] elements go to member j, recv_counts[j]
  /// come from it. Throws kFailedPrecondition if the counts of two members contradict each other.
  void allToAll(const void* in, std::span<const std::size_t> send_counts, void* out,
                std::span<const std::size_t> recv_counts, Type type, const CallOptions& options = {});

  /// Sends `send_count` elements of `in` to member `to`, and receives `recv_count` elements from member
  /// `from` into `out`. `to` and `from` may be this member itself, or kNobody: then that count and buffer are
  /// not used. Unlike MPI_Sendrecv, every member takes part in each call, with kNobody twice if it neither
  /// sends nor receives. So if partners contradict each other (one sends what the other does not expect, or
  /// another number of elements), all members get kFailedPrecondition, which names both, and no member waits.
  void sendRecv(const void* in, std::size_t send_count, int to, void* out, std::size_t recv_count, int from,
                Type type, const CallOptions& options = {});

  /// Returns when every member has entered.
  void barrier(const CallOptions& options = {});

  /// Two of the calls above under PopDist's names.
  void allReduceSum(void* data, std::size_t count, Type type, const CallOptions& options = {}) {
    allReduce(data, data, count, type, Operator::kSum, options);
  }
  void synchronize(const CallOptions& options = {}) { barrier(options); }

  // The same for typed memory. In place: world.allReduce(vector).
  template <Elements R>
  void allReduce(R&& data, Operator op = Operator::kSum, const CallOptions& options = {}) {
    const std::span all(data);
    allReduce(all.data(), all.data(), all.size(), typeOf<ElementOf<R>>(), op, options);
  }
  template <Elements R>
  void allReduceSum(R&& data, const CallOptions& options = {}) {
    allReduce(data, Operator::kSum, options);
  }
  template <Elements R>
  void broadcast(R&& data, int root, const CallOptions& options = {}) {
    const std::span all(data);
    broadcast(all.data(), all.size(), typeOf<ElementOf<R>>(), root, options);
  }
  // One value; the result is returned: const float mean = world.allReduce(loss, Operator::kMean).
  template <Element T>
  T allReduce(const T& value, Operator op = Operator::kSum, const CallOptions& options = {}) {
    T result = value;
    allReduce(&value, &result, 1, typeOf<T>(), op, options);
    return result;
  }
  template <Element T>
  T allReduceSum(const T& value, const CallOptions& options = {}) {
    return allReduce(value, Operator::kSum, options);
  }
  template <Element T>
  T broadcast(const T& value, int root, const CallOptions& options = {}) {
    T result = value;
    broadcast(&result, 1, typeOf<T>(), root, options);
    return result;
  }

  // From one memory to another, with the shapes above: counts follow from `out` of reduceScatter, and from
  // `in` of the others. Throws kInvalidArgument if the other has another number of elements.
  template <ConstElements In, Elements Out>
  void allReduce(const In& in, Out&& out, Operator op = Operator::kSum, const CallOptions& options = {}) {
    const std::span<const ElementOf<Out>> from(in);
    const std::span to(out);
    expectCounts("allReduce", to.size(), from.size());
    allReduce(from.data(), to.data(), from.size(), typeOf<ElementOf<Out>>(), op, options);
  }
  template <ConstElements In, Elements Out>
  void reduceScatter(const In& in, Out&& out, Operator op = Operator::kSum, const CallOptions& options = {}) {
    const std::span<const ElementOf<Out>> from(in);
    const std::span to(out);
    expectCounts("reduceScatter", from.size(), members() * to.size());
    reduceScatter(from.data(), to.data(), to.size(), typeOf<ElementOf<Out>>(), op, options);
  }
  template <ConstElements In, Elements Out>
  void allGather(const In& in, Out&& out, const CallOptions& options = {}) {
    const std::span<const ElementOf<Out>> from(in);
    const std::span to(out);
    expectCounts("allGather", to.size(), members() * from.size());
    allGather(from.data(), to.data(), from.size(), typeOf<ElementOf<Out>>(), options);
  }
  template <ConstElements In, Elements Out>
  void allToAll(const In& in, Out&& out, const CallOptions& options = {}) {
    const std::span<const ElementOf<Out>> from(in);
    const std::span to(out);
    expectCounts("allToAll", to.size(), from.size());
    expectBlocks("allToAll", from.size());
    allToAll(from.data(), to.data(), from.size() / members(), typeOf<ElementOf<Out>>(), options);
  }

  // Overloads for arguments that are no such memory.
  template <NoElements R>
  void allReduce(R&& /*data*/, Operator /*op*/ = Operator::kSum, const CallOptions& /*options*/ = {}) {
    refuseInPlace<R>();
  }
  template <NoElements R>
  void allReduceSum(R&& /*data*/, const CallOptions& /*options*/ = {}) {
    refuseInPlace<R>();
  }
  template <NoElements R>
  void broadcast(R&& /*data*/, int /*root*/, const CallOptions& /*options*/ = {}) {
    refuseInPlace<R>();
  }

  Impl& impl() { return *impl_; }

 private:
  std::size_t members() const { return static_cast<std::size_t>(size()); }
  // Throw kInvalidArgument if the memory has another number of elements than it needs, or no blocks of equal
  // size.
  void expectCounts(const char* call, std::size_t is, std::size_t expected) const;
  void expectBlocks(const char* call, std::size_t count) const;

  popdist::detail::Held<Impl, "Communicator"> impl_;
};

}  // namespace popdist
