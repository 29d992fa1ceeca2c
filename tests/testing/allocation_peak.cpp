// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/allocation_peak.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

// Each block remembers its size in front of itself.
std::atomic<std::size_t> allocated_bytes{0};
std::atomic<std::size_t> most_allocated_bytes{0};
constexpr std::size_t kHeadBytes = alignof(std::max_align_t);

void* allocateCounted(std::size_t bytes) noexcept {
  void* block = std::malloc(bytes + kHeadBytes);
  if (block == nullptr) return nullptr;
  *static_cast<std::size_t*>(block) = bytes;
  const std::size_t now = allocated_bytes += bytes;
  std::size_t most = most_allocated_bytes;
  while (most < now && !most_allocated_bytes.compare_exchange_weak(most, now)) {
  }
  return static_cast<char*>(block) + kHeadBytes;
}

void* orThrow(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void freeCounted(void* memory) noexcept {
  if (memory == nullptr) return;
  void* block = static_cast<char*>(memory) - kHeadBytes;
  allocated_bytes -= *static_cast<std::size_t*>(block);
  std::free(block);
}

}  // namespace

// All forms that do not call one of these by themselves: sanitizers have their own.
void* operator new(std::size_t bytes) {
  return orThrow(allocateCounted(bytes));
}
void* operator new[](std::size_t bytes) {
  return orThrow(allocateCounted(bytes));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocateCounted(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocateCounted(bytes);
}
void operator delete(void* memory) noexcept {
  freeCounted(memory);
}
void operator delete[](void* memory) noexcept {
  freeCounted(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  freeCounted(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  freeCounted(memory);
}

namespace pop::testing {

AllocationPeak::AllocationPeak() : before_(allocated_bytes) {
  most_allocated_bytes = before_;
}

std::size_t AllocationPeak::bytes() const {
  return most_allocated_bytes - before_;
}

}  // namespace pop::testing
