// SPDX-License-Identifier: Apache-2.0
// Outfeed: waiting, modes and checks around the steps that it holds.
#include "popdist/outfeed.hpp"

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/data/feeds/accumulator.h"
#include "libpopdist/data/feeds/awake_wait.h"
#include "libpopdist/data/feeds/feed.h"
#include "libpopdist/data/feeds/of_this_process.h"
#include "libpopdist/data/feeds/step_queue.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/data/tensor/spec.h"

namespace popdist::io {
namespace {

pop::Status check(const OutfeedOptions& options) {
  if (options.replicas < 1 || options.replicas > kReplicasMax) {
    return pop::invalidArgument("replicas is " + std::to_string(options.replicas) + ", expected 1 to " +
                                std::to_string(kReplicasMax));
  }
  if (options.buffer_depth < 1) return pop::invalidArgument("buffer_depth is 0, expected 1 or more");
  if (options.enqueue_timeout.count() < 0) {
    return pop::invalidArgument("enqueue_timeout is " + std::to_string(options.enqueue_timeout.count()) +
                                " ms, expected 0 or more");
  }
  if (!options.accumulate) return {};
  if (options.accumulate->steps < 1)
    return pop::invalidArgument("accumulate has 0 steps, expected 1 or more");
  if (options.mode == OutfeedMode::kLast)
    return pop::invalidArgument("accumulate needs OutfeedMode::kAll: a sum is made of all values");
  return {};
}

/// Before anything is made of them.
const OutfeedOptions& checked(const OutfeedOptions& options) {
  throwIfError(check(options), "Outfeed");
  return options;
}

class Queue {
 public:
  explicit Queue(const OutfeedOptions& options)
      : options_(checked(options)),
        steps_(options.replicas),
        sums_(static_cast<std::size_t>(options.replicas)),
        turns_(sums_.size()) {
    const DataOptions data = options.data ? *options.data : DataOptions::fromEnvironment();
    is_synthetic_ = data.outfeeds && data.kind == DataKind::kSynthetic;
  }

  void enqueue(ConstTensorRefs values, int replica) {
    std::unique_lock lock(mutex_);
    fixSpec(values.spec());
    checkReplica(replica, "Outfeed.enqueue");
    Turn& turn = turns_[static_cast<std::size_t>(replica)];
    if (turn == Turn::kDone) failSecondTime(replica);
    if (options_.accumulate && !is_synthetic_)
      enqueueSum(lock, values, replica);
    else if (!is_synthetic_)
      put(lock, values, replica);
    if (turn == Turn::kOnce) turn = Turn::kDone;
  }

  Tensors dequeue(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    if (options_.mode == OutfeedMode::kLast) return latest();
    waitAwake(enqueued_, lock, wait, [&] { return steps_.whole() > 0; });
    if (!values_) {
      if (loops_ > 0) return {};
      throwIfError(pop::failedPrecondition("nothing was ever enqueued"), "Outfeed.dequeue");
    }
    std::vector<Tensors> steps;
    while (steps_.whole() > 0) steps.push_back(steps_.take());
    dequeued_.notify_all();
    lock.unlock();
    return stacked(steps);
  }

  std::optional<Tensors> next() {
    std::unique_lock lock(mutex_);
    if (options_.mode == OutfeedMode::kLast)
      throwIfError(
          pop::failedPrecondition("an outfeed of OutfeedMode::kLast has no steps one after the other"),
          "Outfeed.next");
    while (steps_.whole() == 0 && loops_ > 0) enqueued_.wait(lock);
    if (steps_.whole() == 0) return std::nullopt;
    Tensors step = steps_.take();
    bytes_taken_ += tensor::bytesOf(step.spec());
    dequeued_.notify_all();
    return step;
  }

  void beginLoop(int replica) {
    const std::scoped_lock lock(mutex_);
    checkReplica(replica, "Outfeed.Loop");
    ++loops_;
  }

  void endLoop(int replica) {
    const std::scoped_lock lock(mutex_);
    --loops_;
    turns_[static_cast<std::size_t>(replica)] = Turn::kFree;
    enqueued_.notify_all();
  }

  void beginStep(int replica) {
    const std::scoped_lock lock(mutex_);
    turns_[static_cast<std::size_t>(replica)] = Turn::kOnce;
  }

  std::uint64_t bytesTaken() {
    const std::scoped_lock lock(mutex_);
    return bytes_taken_;
  }

 private:
  /// A replica's right to enqueue before its loop begins another step.
  enum class Turn : std::uint8_t { kFree, kOnce, kDone };

  static void failSecondTime(int replica) {
    throwIfError(
        pop::failedPrecondition("replica " + std::to_string(replica) +
                                " has enqueued in this step already: enqueue all tensors together, or "
                                "use an outfeed for each"),
        "Outfeed.enqueue");
  }

  void checkReplica(int replica, const char* function) const {
    if (replica >= 0 && replica < options_.replicas) return;
    throwIfError({pop::Code::kOutOfRange, "there is no replica " + std::to_string(replica) + " among the " +
                                              std::to_string(options_.replicas) + " of this outfeed"},
                 function);
  }

  void fixSpec(const Spec& spec) {
    if (!values_) {
      throwIfError(tensor::checkSpec(spec), "Outfeed.enqueue");
      result_ = spec;
      if (options_.accumulate) {
        pop::Result<Spec> sums = specOfSums(spec, options_.accumulate->type);
        throwIfError(sums.status(), "Outfeed.enqueue");
        result_ = std::move(sums).value();
      }
      values_ = spec;
    } else if (spec != *values_) {
      throwIfError(
          pop::invalidArgument("the first step was " + textOf(*values_) + ", this one is " + textOf(spec)),
          "Outfeed.enqueue");
    }
  }

  void put(std::unique_lock<std::mutex>& lock, ConstTensorRefs values, int replica) {
    if (options_.mode == OutfeedMode::kLast) {
      steps_.replace(values, replica);
    } else {
      const auto has_room = [&] { return steps_.held(replica) < options_.buffer_depth; };
      if (!waitAwake(dequeued_, lock, options_.enqueue_timeout, has_room)) failFull();
      steps_.put(values, replica);
    }
    enqueued_.notify_all();
  }

  struct Sum {
    std::optional<Tensors> values;
    std::uint64_t steps = 0;
  };

  /// With the step that fills a sum, it waits before it adds: a call that fails has changed nothing.
  void enqueueSum(std::unique_lock<std::mutex>& lock, ConstTensorRefs values, int replica) {
    Sum& sum = sums_[static_cast<std::size_t>(replica)];
    const bool is_last = sum.steps + 1 == options_.accumulate->steps;
    const auto has_room = [&] { return steps_.held(replica) < options_.buffer_depth; };
    if (is_last && !waitAwake(dequeued_, lock, options_.enqueue_timeout, has_room)) failFull();
    if (sum.steps++ == 0) sum.values.emplace(result_);
    addTo(sum.values->refs(), values);
    if (!is_last) return;
    put(lock, *sum.values, replica);
    sum.steps = 0;
  }

  Tensors latest() {
    if (is_synthetic_)
      throwIfError(pop::failedPrecondition("a synthetic outfeed has no latest value"), "Outfeed.dequeue");
    std::optional<Tensors> values = steps_.latest();
    if (!values)
      throwIfError(pop::failedPrecondition("not every replica has enqueued a value yet"), "Outfeed.dequeue");
    bytes_taken_ += tensor::bytesOf(values->spec());
    return std::move(*values);
  }

  Tensors stacked(const std::vector<Tensors>& steps) {
    const Spec step = steps_.specOfStep(result_);
    Tensors all(withDimensions(step, {steps.size()}));
    for (std::size_t at = 0; at < steps.size(); ++at) {
      for (std::size_t i = 0; i < step.size(); ++i) {
        const auto from = steps[at].at(i).bytes();
        if (!from.empty()) std::memcpy(all.at(i).bytes().data() + at * from.size(), from.data(), from.size());
      }
    }
    const std::scoped_lock lock(mutex_);
    bytes_taken_ += tensor::bytesOf(all.spec());
    return all;
  }

  void failFull() const {
    throwIfError({pop::Code::kDeadlineExceeded,
                  "the queue has been full (buffer_depth " + std::to_string(options_.buffer_depth) +
                      ") for " + std::to_string(options_.enqueue_timeout.count()) +
                      " ms and nobody dequeues: dequeue more often or in another thread, raise "
                      "OutfeedOptions::buffer_depth to the steps between two dequeues, or use "
                      "OutfeedMode::kLast"},
                 "Outfeed.enqueue");
  }

  const OutfeedOptions options_;
  bool is_synthetic_ = false;
  std::mutex mutex_;
  std::condition_variable enqueued_;
  std::condition_variable dequeued_;
  std::optional<Spec> values_;  // enqueue()'s; nothing before the first
  Spec result_;                 // one replica's step on the host
  StepQueue steps_;
  std::vector<Sum> sums_;  // one for each replica
  int loops_ = 0;
  std::vector<Turn> turns_;  // one for each replica
  std::uint64_t bytes_taken_ = 0;
};

}  // namespace

class Outfeed::Impl : public OfThisProcess<Queue> {
  using OfThisProcess::OfThisProcess;
};

Outfeed::Outfeed(const OutfeedOptions& options) : impl_(std::make_unique<Impl>("outfeed", options)) {}
Outfeed::~Outfeed() = default;
Outfeed::Outfeed(Outfeed&&) noexcept = default;
Outfeed& Outfeed::operator=(Outfeed&&) noexcept = default;

void Outfeed::enqueue(ConstTensorRefs values, int replica) {
  impl_->get("Outfeed.enqueue").enqueue(values, replica);
}
Tensors Outfeed::dequeue(std::chrono::milliseconds wait) {
  return impl_->get("Outfeed.dequeue").dequeue(wait);
}
std::optional<Tensors> Outfeed::next() {
  return impl_->get("Outfeed.next").next();
}
std::uint64_t Outfeed::bytesTaken() const {
  return impl_->get("Outfeed.bytesTaken").bytesTaken();
}

Outfeed::Iterator& Outfeed::Iterator::operator++() {
  std::optional<Tensors> step = outfeed_->next();
  step_ = step ? std::make_shared<const Tensors>(std::move(*step)) : nullptr;
  return *this;
}

Outfeed::Loop::Loop(Outfeed& outfeed, int replica) : outfeed_(outfeed), replica_(replica) {
  outfeed.impl_->get("Outfeed.Loop").beginLoop(replica);
}
Outfeed::Loop::~Loop() {
  if (outfeed_.impl_) outfeed_.impl_->get("Outfeed.Loop").endLoop(replica_);
}
void Outfeed::Loop::beginStep() {
  outfeed_.impl_->get("Outfeed.Loop").beginStep(replica_);
}

}  // namespace popdist::io
