// SPDX-License-Identifier: Apache-2.0
// All-reduce of many small tensors, packed into buckets: one collective for each bucket instead of one for
// each tensor. It begins as soon as the tensors of a bucket are ready, while the program computes the next
// ones. Guide: docs/guide/asynchronous_collectives.md. From: gradient packing of data-parallel training.
// bucket_bytes is maximum_reduce_many_buffer_size of TensorFlow for the IPU.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "popdist/async.hpp"
#include "popdist/context.hpp"
#include "popdist/held.hpp"

namespace popdist {

/// A tensor, at the same address in every step.
struct FusedTensor {
  std::string name{};  ///< for error texts
  void* data = nullptr;
  std::size_t count = 0;  ///< elements
  Type type = Type::kFloat;
};

struct FusionOptions {
  /// The tensors of a bucket have at most this many bytes together. A larger tensor has its own bucket.
  std::size_t bucket_bytes = std::size_t{4} << 20;
  Operator op = Operator::kSum;
  std::optional<std::chrono::milliseconds> timeout{};  ///< as CallOptions::timeout
};

/// One step: ready(i) for each tensor as soon as it is computed, then wait(). Repeat. All in place.
///
///   - Buckets: filled in the order of `tensors`, each type separately. Register tensors in the order in
///     which they become ready (gradients: last layer first).
///   - All members on one host: tensors are reduced where they are, fastest in shared memory (Buffer,
///     SharedAllocator).
///   - Over a network: the tensors of a bucket are copied into a Buffer and back, unless they follow each
///     other in memory without gaps. Memory: a Buffer of the size of all tensors that are copied.
///   - Results: those of AsyncCommunicator::allReduce on each bucket, bit-identical on all members and from
///     run to run.
class FusedAllReduce {
 public:
  /// All members make one with the same `name` (unique on `communicator`), the same counts and types of
  /// tensors in the same order, and the same options. If buckets differ in count or type, wait() throws
  /// kFailedPrecondition. If they have as many elements but other tensors, that is detected only where
  /// tensors are reduced where they are. Local, not collective. The context, the communicator and the tensors
  /// must outlive it and must not move. Throws kInvalidArgument (unknown type or operator, a null pointer,
  /// two tensors that share memory) or kResourceExhausted.
  FusedAllReduce(Context& context, AsyncCommunicator& communicator, std::string name,
                 std::vector<FusedTensor> tensors, const FusionOptions& options = {});

  /// Waits for the collectives under way.
  ~FusedAllReduce();
  FusedAllReduce(FusedAllReduce&&) noexcept;
  FusedAllReduce& operator=(FusedAllReduce&&) noexcept;

  /// Tensor number `tensor` has its values of this step. Do not touch it until wait() has returned. The last
  /// tensor of a bucket starts the all-reduce of the bucket. Call it once for each tensor in each step, in
  /// any order, from any thread. Throws kInvalidArgument (no such tensor) or kFailedPrecondition (already
  /// ready in this step); wait() throws all other errors.
  void ready(std::size_t tensor);

  /// Returns when all tensors hold their results; the next step may begin. Call it after every ready() of the
  /// step has returned. Throws kFailedPrecondition if a tensor is not ready; the step then goes on. Throws as
  /// AsyncCommunicator and Pending::wait; the step is then over, and the tensors hold undefined values.
  void wait();

  /// From the next step on, `reduced(tensor)` is called for each tensor as soon as it holds its result, while
  /// others may not be ready yet: bucket after bucket as they are done, in the thread of the communicator,
  /// whose next collective waits for it. All calls have returned when wait() does; what one throws, wait()
  /// throws, and no other is called in that step. It may change that tensor, and must not wait for
  /// collectives of this communicator.
  void onReduced(std::function<void(std::size_t tensor)> reduced);

  /// A whole step at once: all tensors are ready, and wait().
  void reduce();

  std::size_t buckets() const;
  /// Bytes that are copied in each direction in every step.
  std::size_t copiedBytes() const;

 private:
  class Impl;
  popdist::detail::Held<Impl, "FusedAllReduce"> impl_;
};

}  // namespace popdist
