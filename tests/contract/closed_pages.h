// SPDX-License-Identifier: Apache-2.0
// Memory in which a rank stands still, wherever its call has come to when it gets there.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <memory>

namespace popdist::contract {

/// Pages whose first user stands still until they are opened. One at a time.
class ClosedPages {
 public:
  ClosedPages(void* begin, std::size_t bytes) {
    ::mprotect(begin, bytes, PROT_NONE);
    bytes_ = bytes;
    closed_ = begin;
    is_open_ = false;
    struct sigaction action {};
    action.sa_handler = &waitUntilOpen;
    ::sigaction(SIGSEGV, &action, &before_);
  }
  ~ClosedPages() { ::sigaction(SIGSEGV, &before_, nullptr); }
  ClosedPages(const ClosedPages&) = delete;
  ClosedPages& operator=(const ClosedPages&) = delete;

  static void open() { is_open_ = true; }

  /// The first page that begins in this memory.
  static void* firstIn(void* memory) {
    std::size_t room = 2 * kPageBytes;
    return std::align(kPageBytes, kPageBytes, memory, room);
  }
  static constexpr std::size_t kPageBytes = 4096;

 private:
  static void waitUntilOpen(int /*signal*/) {
    while (!is_open_) ::sched_yield();
    ::mprotect(closed_, bytes_, PROT_READ | PROT_WRITE);
  }

  static inline std::atomic<void*> closed_;
  static inline std::atomic<std::size_t> bytes_;
  static inline std::atomic<bool> is_open_;
  struct sigaction before_ {};
};

}  // namespace popdist::contract
