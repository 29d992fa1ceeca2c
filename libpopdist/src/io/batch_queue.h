// SPDX-License-Identifier: Apache-2.0
// The bounded queue between an infeed's thread (producer) and its caller (consumer). It owns all batches and
// hands the same ones round. An epoch that was replaced by another can still be in the producer's hands: its
// ticket is stale, and whatever comes with a stale ticket is dropped.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/base/status.h"
#include "popdist/io.hpp"

namespace popdist::io {

class BatchQueue {
 public:
  struct Ticket {
    std::uint64_t generation = 0;
    std::uint64_t epoch = 0;
  };

  explicit BatchQueue(std::size_t depth);

  // Consumer
  void startEpoch(std::uint64_t epoch);
  /// Takes back the batch of the call before. nullptr: the epoch is over.
  pop::Result<const Batch*> next();
  /// Wakes the producer, which gets nothing but refusals from now on.
  void close();

  // Producer
  /// Waits for an epoch that it has not been told of yet. Nothing: closed.
  std::optional<Ticket> awaitEpoch();
  bool isStale(const Ticket& ticket) const {
    return generation_.load(std::memory_order_relaxed) != ticket.generation;
  }
  /// Waits for room; then an old batch to fill again, or a new one. nullptr: the ticket is stale.
  std::unique_ptr<Batch> acquire(const Ticket& ticket);
  void publish(const Ticket& ticket, std::unique_ptr<Batch> batch);
  /// No more batches in this epoch: it is over (ok) or has failed.
  void finish(const Ticket& ticket, pop::Status outcome);

 private:
  const std::size_t depth_;
  std::mutex mutex_;
  std::condition_variable for_consumer_;
  std::condition_variable for_producer_;
  std::atomic<std::uint64_t> generation_{0};  // written under mutex_; read without it to stop a read early
  std::uint64_t announced_ = 0;               // the generation that awaitEpoch() returned last
  std::uint64_t epoch_ = 0;
  bool closed_ = false;
  std::optional<pop::Status> outcome_;  // of this epoch, once the producer has finished it
  std::deque<std::unique_ptr<Batch>> ready_;
  std::vector<std::unique_ptr<Batch>> free_;
  std::unique_ptr<Batch> held_;  // by the consumer
};

}  // namespace popdist::io
