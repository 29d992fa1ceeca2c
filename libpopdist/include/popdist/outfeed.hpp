// SPDX-License-Identifier: Apache-2.0
// The queue that carries results (losses, accuracies, predictions) from the replicas of an instance to the
// host.
//
//   Outfeed outfeed({.replicas = 2});
//   outfeed.enqueue(Tensors(Tensor::full("loss", {}, 0.5F)), replica);   // on the device, each step
//   for (const Tensors& step : outfeed) print(step.get<float>("loss"));  // on the host: 2 values a step
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "popdist/cxx20.hpp"
#include "popdist/data_options.hpp"
#include "popdist/held.hpp"
#include "popdist/tensor.hpp"

namespace popdist::io {

enum class OutfeedMode : std::uint8_t {
  kAll,   ///< every step, in order
  kLast,  ///< the latest values of each replica only: enqueue() never waits
};

/// Sums the values of several steps on the device, so that one crosses to the host.
struct OutfeedAccumulation {
  std::uint64_t steps = 1;
  /// Type of the sums: kFloat, kDouble, or the values' own (nothing), in which sums of integers wrap.
  /// Integers of 8 bits need one.
  std::optional<Type> type{};
};

struct OutfeedOptions {
  OutfeedMode mode = OutfeedMode::kAll;
  int replicas = 1;                                  ///< this instance's
  std::size_t buffer_depth = 3;                      ///< kAll: steps held before enqueue() waits, at least 1
  std::chrono::milliseconds enqueue_timeout{10000};  ///< kAll: the longest wait for room, at least 0
  std::optional<OutfeedAccumulation> accumulate{};   ///< kAll only
  /// Nothing: what the environment says. Values of a synthetic outfeed do not reach the host.
  std::optional<DataOptions> data{};
};

/// A step is one enqueue() of each replica. In kAll the queue holds `buffer_depth` steps and then blocks the
/// replica, as the device does: a program that enqueues and dequeues in one thread dequeues at least every
/// `buffer_depth` steps, or sets buffer_depth to the number of steps of an epoch, or uses kLast. Shapes on
/// the host have one dimension more for each of these, in this order: the steps (kAll), the replicas (if
/// there are more than one). Any thread may call any function at any time; enqueue() of one replica by one at
/// a time. Waits do not count time in which this process is stopped, such as by Ctrl-Z in poprun, if it is
/// more than a second.
class Outfeed {
 public:
  /// Throws popdist_error kInvalidArgument naming the option that is out of range.
  explicit Outfeed(const OutfeedOptions& options = {});

  /// No other call may be in progress. In a forked child all calls but this one throw kFailedPrecondition.
  ~Outfeed();

  Outfeed(Outfeed&&) noexcept;
  Outfeed& operator=(Outfeed&&) noexcept;

  /// Adds a copy of `values` for the replica's next step. The first call fixes names, types and shapes for
  /// all replicas. When the queue is full, waits until another thread dequeues. Throws popdist_error
  /// kInvalidArgument (other tensors than the first; names both), kOutOfRange (no such replica),
  /// kFailedPrecondition (the second time in a step, see Loop::beginStep), and after enqueue_timeout
  /// kDeadlineExceeded; then the queue is as before, so the call can be repeated.
  void enqueue(ConstTensorRefs values, int replica = 0);

  /// One scalar.
  template <typename T>
  void enqueue(const char* name, T value, int replica = 0) {
    enqueue(Tensors(Tensor::full(name, {}, value)).refs(), replica);
  }

  /// kAll: takes out all whole steps: each tensor is [steps, (replicas), …], with 0 steps if there are none
  /// after up to `wait`. kLast: a copy of the latest values, [(replicas), …]. Throws popdist_error
  /// kFailedPrecondition when nothing was ever enqueued and no Loop runs (while one does, it returns no
  /// tensors), or in kLast when a replica has not enqueued yet or the outfeed is synthetic.
  Tensors dequeue(std::chrono::milliseconds wait = std::chrono::milliseconds(0));

  /// Takes out the oldest whole step, each tensor [(replicas), …]. While a Loop runs, waits for it; else
  /// there may be none. Throws popdist_error kFailedPrecondition in kLast.
  std::optional<Tensors> next();

  /// Says that steps of a replica are coming, as long as it lives: next() and iteration wait for them.
  /// loops::repeat and such have one; a loop written by hand has its own.
  class Loop {
   public:
    explicit Loop(Outfeed& outfeed, int replica = 0);
    ~Loop();

    /// From now on the replica may enqueue once until the next call: a second time throws popdist_error
    /// kFailedPrecondition. Without any call it may enqueue as often as it likes.
    void beginStep();

    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

   private:
    Outfeed& outfeed_;
    int replica_;
  };

  /// Takes steps out by next(), until there is none.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Tensors;
    using difference_type = std::ptrdiff_t;
    using pointer = const Tensors*;
    using reference = const Tensors&;

    Iterator() = default;
    explicit Iterator(Outfeed& outfeed) : outfeed_(&outfeed) { ++*this; }
    const Tensors& operator*() const { return *step_; }
    const Tensors* operator->() const { return step_.get(); }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.step_ == b.step_; }

   private:
    Outfeed* outfeed_ = nullptr;
    std::shared_ptr<const Tensors> step_;  // none: at the end
  };
  Iterator begin() { return Iterator(*this); }
  Iterator end() { return {}; }

  /// Bytes that went from device to host so far.
  std::uint64_t bytesTaken() const;

 private:
  class Impl;
  popdist::detail::Held<Impl, "Outfeed"> impl_;
};

}  // namespace popdist::io
