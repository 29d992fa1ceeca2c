// SPDX-License-Identifier: Apache-2.0
// The bounded queue between the threads that read elements and the replicas that take them. Element k of a
// pass is the step k / replicas of replica k % replicas. Threads claim elements and may finish them in any
// order. Replicas whose elements are addressed go on by themselves; a sequence is read in its order, so there
// a replica that does not take its elements holds the others up, and a step is there when it is whole. The
// queue owns the tensors of all elements and hands the same ones round.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/data/dataset/node.h"
#include "popdist/infeed.hpp"
#include "popdist/tensor.hpp"

namespace popdist::io {

class FeedQueue {
 public:
  struct Claim {
    std::uint64_t epoch = 0;
    std::uint64_t step = 0;
    std::size_t replica = 0;
    std::optional<Tensors>* element = nullptr;  ///< empty until it is first used
  };
  enum class Outcome : std::uint8_t { kRead, kEnd };

  FeedQueue(const Node& node, int replicas, int depth, std::chrono::milliseconds turn_timeout);

  // Replicas
  /// Waits until no thread reads for the position before.
  void start(Position position);
  pop::Result<const Tensors*> next(int replica);
  Position position(int replica) const;
  /// Threads get no more claims.
  void close();

  // Threads
  /// Waits for an element that may be read. Nothing: closed.
  std::optional<Claim> claim();
  /// Every claim is finished once.
  void finish(const Claim& claim, pop::Result<Outcome> outcome);
  /// True while what is being read is not wanted any more.
  const std::atomic<bool>& cancelled() const { return cancelled_; }

 private:
  struct Slot {
    std::optional<Tensors> element;
    bool is_read = false;
  };
  /// One replica's steps; all are of the pass.
  struct Lane {
    std::uint64_t taken = 0;                 // the next step that it takes
    std::uint64_t claimed = 0;               // the next step that a thread reads for it
    std::vector<Slot> slots;                 // one more than are read ahead: that which it holds
    std::optional<std::uint64_t> failed_at;  // the first step that could not be read
    pop::Status failure;

    Slot& slotOf(std::uint64_t step) { return slots[step % slots.size()]; }
  };

  void begin(std::unique_lock<std::mutex>& lock, Position position);
  bool hasRoom(const Lane& lane) const;
  /// The replica to read for; nothing if all have what they may have.
  std::optional<std::size_t> replicaToReadFor() const;
  bool isThere(Lane& lane) const;
  bool isFailed(const Lane& lane) const { return lane.failed_at && *lane.failed_at <= lane.taken; }
  /// kDeadlineExceeded: another replica of a sequence takes nothing.
  pop::Status awaitStep(std::unique_lock<std::mutex>& lock, Lane& lane);
  pop::Status heldUp(const Lane& lane) const;

  const Node& node_;
  const bool is_sequence_;
  const std::chrono::milliseconds turn_timeout_;

  mutable std::mutex mutex_;
  std::condition_variable for_replicas_;
  std::condition_variable for_threads_;
  std::condition_variable for_start_;
  std::atomic<bool> cancelled_{false};
  bool is_started_ = false;
  bool is_closed_ = false;
  int claims_in_hand_ = 0;
  int waiting_ = 0;  // replicas

  std::uint64_t epoch_ = 0;
  std::uint64_t end_ = kEndless;     // no step from here on is there
  std::uint64_t elements_read_ = 0;  // for a sequence, in order
  std::vector<Lane> lanes_;
};

}  // namespace popdist::io
