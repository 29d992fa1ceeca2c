// SPDX-License-Identifier: Apache-2.0
// Collectives between instances, on memory of the host. For collectives between replicas see pod.hpp.
//
// Common to all calls below
//   Who calls     every member of the communicator, with the same operation, count, type (and root), in the
//   same order.
//                 Members that notice a difference fail with kFailedPrecondition, the others when those have
//                 ended.
//   Returns       when this member's result is there and its buffers may be used again.
//   Order         sums are taken in an order that follows from the count, the number of members and whether
//   they
//                 share a host, 16-bit types rounded at each addition: results are bit-identical on all
//                 members and from run to run with the same layout (but for the payload of a NaN).
//   Errors        popdist_error. kUnavailable: a member has ended (peer() is its instance index);
//   kDeadlineExceeded:
//                 Context::setTimeout; both within a second of the fact. Buffers then hold anything, and
//                 every further call on this communicator fails with kFailedPrecondition. kInvalidArgument:
//                 bad arguments of this member alone; nothing has happened.
//   Threads       one call at a time on a communicator.
// Counts are elements; n is size(). Cost is given in messages and bytes that each member sends.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "popdist/types.hpp"

namespace popdist {

class Communicator {
 public:
  class Impl;  // what the library knows of it
  explicit Communicator(std::unique_ptr<Impl> impl);
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;

  int rank() const;  ///< of this instance, in [0, size())
  int size() const;

  /// data[i] = sum over all members of their data[i], in place. `count` elements on each member.
  /// Not for bool. Cost: 2(n-1) messages, 2(n-1)/n * count elements; over several hosts fewer messages for
  /// short vectors: log2(n) of count elements up to 64 KiB, 2 log2(n) up to 512 KiB.
  void allReduceSum(void* data, std::size_t count, Type type);

  /// out = the members' `in`s in order of rank: n*count elements; `in` has count. `in` may be nullptr: this
  /// member's block is then in place in `out` already. Cost: n-1 messages, (n-1)*count elements.
  void allGather(const void* in, void* out, std::size_t count, Type type);

  /// out[i] = sum over all members of their in[rank()*count + i]. `in` has n*count elements and is not
  /// changed, `out` has count, and may be this member's block of `in`. Not for bool. Cost: n-1 messages,
  /// (n-1)*count elements.
  void reduceScatter(const void* in, void* out, std::size_t count, Type type);

  /// data = root's data, on all members; `count` elements. Cost: a binomial tree, at most log2(n) messages in
  /// a row.
  void broadcast(void* data, std::size_t count, Type type, int root);

  /// Block j of `in` goes to block rank() of member j's `out`; both have n*count elements and must not
  /// overlap. Cost: n-1 messages, (n-1)*count elements.
  void allToAll(const void* in, void* out, std::size_t count, Type type);

  /// Returns when every member has entered. Cost: log2(n) messages of one byte.
  void synchronize();

  // The same for typed memory.
  template <typename T>
  void allReduceSum(std::span<T> data) {
    allReduceSum(data.data(), data.size(), typeOf<T>());
  }
  template <typename T>
  void broadcast(std::span<T> data, int root) {
    broadcast(data.data(), data.size(), typeOf<T>(), root);
  }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist
