// SPDX-License-Identifier: Apache-2.0
// The one thread that has ever called something, if there is just one: then no other will come there.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace popdist::context {

class SoleThread {
 public:
  /// This thread calls.
  void enter() {
    const std::uintptr_t self = thisThread();
    const std::uintptr_t so_far = sole_.load(std::memory_order_relaxed);
    if (so_far != self && so_far != kSeveral) [[unlikely]]
      sole_.store(so_far == 0 ? self : kSeveral, std::memory_order_relaxed);
  }

  /// No thread but this one has ever called; if none has, this one has made it.
  bool isThis() const {
    const std::uintptr_t sole = sole_.load(std::memory_order_relaxed);
    return (sole == 0 ? maker_ : sole) == thisThread();
  }

 private:
  static constexpr std::uintptr_t kSeveral = 1;

  static std::uintptr_t thisThread() { return static_cast<std::uintptr_t>(::pthread_self()); }

  const std::uintptr_t maker_ = thisThread();
  std::atomic<std::uintptr_t> sole_{0};  // the thread that has called
};

}  // namespace popdist::context
