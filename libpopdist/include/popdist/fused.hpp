// SPDX-License-Identifier: Apache-2.0
// All-reduce of many small tensors, packed into buckets: one collective for each bucket instead of one for
// each tensor, begun as soon as a bucket's tensors are there, while the program computes the next ones. From:
// gradient packing of data-parallel training; TensorFlow's maximum_reduce_many_buffer_size for the IPU is
// bucket_bytes here.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "popdist/async.hpp"
#include "popdist/context.hpp"

namespace popdist {

/// Where a tensor is, step after step.
struct FusedTensor {
  std::string name;  ///< for messages
  void* data = nullptr;
  std::size_t count = 0;  ///< elements
  Type type = Type::kFloat;
};

struct FusionOptions {
  /// A bucket takes tensors up to so many bytes together; a larger tensor has one of its own.
  std::size_t bucket_bytes = std::size_t{4} << 20;
  Operator op = Operator::kSum;
  std::optional<std::chrono::milliseconds> timeout{};  ///< as CallOptions::timeout
};

/// One step: ready(i) for each tensor as it is computed, then wait(); and again. All in place.
///
/// Tensors go into buckets in the order of `tensors`, each type into its own: register them in the order in
/// which they become ready (gradients: last layer first). Where all members are on one host, tensors are
/// reduced where they are, fastest in shared memory (Buffer, SharedAllocator). Over a network a bucket's
/// tensors are copied into a Buffer and back, unless they follow each other in memory without gaps. Memory: a
/// Buffer of the size of all tensors that are copied. Results: those of AsyncCommunicator::allReduce of each
/// bucket, bit-identical on all members and from run to run.
class FusedAllReduce {
 public:
  /// All members make one of the same `name`, unique on `communicator`, with tensors of the same counts and
  /// types in the same order, and the same options. Where buckets have other counts or types, wait() throws
  /// kFailedPrecondition; that a bucket of as many elements has other tensors is only seen where they are
  /// reduced where they are. Of one instance alone. The context, the communicator and the tensors must
  /// outlive it and stay where they are. Throws kInvalidArgument (no such type or operator, a null pointer,
  /// two tensors that share memory), kResourceExhausted.
  FusedAllReduce(Context& context, AsyncCommunicator& communicator, std::string name,
                 std::vector<FusedTensor> tensors, const FusionOptions& options = {});

  /// Waits for what goes on.
  ~FusedAllReduce();
  FusedAllReduce(FusedAllReduce&&) noexcept;
  FusedAllReduce& operator=(FusedAllReduce&&) noexcept;

  /// The tensor has its values of this step; it must not be touched before wait() has returned. Begins the
  /// all-reduce of its bucket if it is the last of it. Any order, and from any thread, once in each step.
  /// Throws kInvalidArgument (no such tensor), kFailedPrecondition (for the second time in this step); all
  /// else that goes wrong is for wait().
  void ready(std::size_t tensor);

  /// Returns when all tensors hold their results; the next step may begin. After every ready() of the step
  /// has returned. Throws kFailedPrecondition where a tensor has not been ready, which leaves the step as it
  /// is, and as AsyncCommunicator and Pending::wait do; the step is then over, and the tensors hold anything.
  void wait();

  /// A whole step: all are ready.
  void reduce();

  std::size_t buckets() const;
  /// Bytes that are copied each way in every step.
  std::size_t copiedBytes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist
