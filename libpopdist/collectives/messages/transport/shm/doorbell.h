// SPDX-License-Identifier: Apache-2.0
// Wakes a process that sleeps until one of its channels moves. Costs one load if no process sleeps.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "common/sys/futex.h"
#include "libpopdist/collectives/messages/transport/transport.h"
#include "libpopdist/collectives/messages/transport/waiting_limits.h"
#include "libpopdist/collectives/messages/transport/wake_socket.h"

namespace popdist::transport {

/// In shared memory; all-zero is ready for use.
struct Doorbell {
  enum Asleep : std::uint32_t { kAwake = 0, kOnFutex, kOnSocket };

  alignas(64) std::atomic<std::uint32_t> rings{0};
  std::atomic<std::uint32_t> asleep{kAwake};
  std::atomic<std::uint64_t> socket_name{
      0};  ///< name of the socket of a process that sleeps on sockets: wake_socket.h

  /// Called by a peer after it has published what it moved.
  void ring() {
    if (asleep.load(std::memory_order_seq_cst) == kAwake) return;
    // The exchange only if a thread sleeps: it keeps the others from waking it as well.
    const std::uint32_t was = asleep.exchange(kAwake, std::memory_order_seq_cst);
    if (was == kAwake) return;
    rings.fetch_add(1, std::memory_order_seq_cst);
    if (was == kOnSocket) {
      WakeSocket::wake(socket_name.load(std::memory_order_relaxed));
    } else {
      pop::sys::futexWakeAll(rings);
    }
  }
};

class DoorbellSleeper final : public Sleeper {
 public:
  explicit DoorbellSleeper(Doorbell* doorbell) : doorbell_(doorbell) {}

  int spins() const override { return kMaxSpins; }

  void prepare() override {
    // The order matters: a ring clears the announcement, and must not be among those already seen.
    rings_seen_ = doorbell_->rings.load(std::memory_order_seq_cst);
    doorbell_->asleep.store(Doorbell::kOnFutex, std::memory_order_seq_cst);
  }
  void waitForRing(std::chrono::milliseconds limit) override {
    pop::sys::futexWait(doorbell_->rings, rings_seen_, limit);
    cancel();
  }
  void cancel() override { doorbell_->asleep.store(Doorbell::kAwake, std::memory_order_seq_cst); }

 private:
  Doorbell* doorbell_;
  std::uint32_t rings_seen_ = 0;
};

}  // namespace popdist::transport
