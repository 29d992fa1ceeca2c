// SPDX-License-Identifier: Apache-2.0
// malloc and its family for a program that brings its own, as with jemalloc. It never gives memory back; the
// C library's free ends the program when it is given some of it. Sanitizers bring one anyway.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kArenaBytes = std::size_t{1} << 34;  // address space
constexpr std::size_t kLeastAlignment = 16;

std::uintptr_t newArena() {
  void* const arena = ::mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return reinterpret_cast<std::uintptr_t>(arena);
}

// Each block has its size in front of it.
void* blockOf(std::size_t bytes, std::size_t alignment) {
  static const std::uintptr_t arena = newArena();
  static std::atomic<std::size_t> used{0};
  alignment = std::max(alignment, kLeastAlignment);
  const std::uintptr_t begin = arena + used.fetch_add(bytes + 2 * alignment);
  if (begin + bytes + 2 * alignment > arena + kArenaBytes) return nullptr;
  const std::uintptr_t block = (begin + 2 * alignment - 1) / alignment * alignment;
  std::memcpy(reinterpret_cast<void*>(block - sizeof(bytes)), &bytes, sizeof(bytes));
  return reinterpret_cast<void*>(block);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

std::size_t malloc_usable_size(void* block) noexcept {
  std::size_t bytes = 0;
  if (block != nullptr) std::memcpy(&bytes, static_cast<char*>(block) - sizeof(bytes), sizeof(bytes));
  return bytes;
}

void* malloc(std::size_t bytes) noexcept {
  return blockOf(bytes, kLeastAlignment);
}

void free(void*) noexcept {}

// The arena is zero, and nothing of it is used twice.
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  return blockOf(count * bytes, kLeastAlignment);
}

void* realloc(void* block, std::size_t bytes) noexcept {
  void* const moved = blockOf(bytes, kLeastAlignment);
  if (moved != nullptr && block != nullptr)
    std::memcpy(moved, block, std::min(bytes, malloc_usable_size(block)));
  return moved;
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return blockOf(bytes, alignment);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return blockOf(bytes, alignment);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  *block = blockOf(bytes, alignment);
  return *block == nullptr ? ENOMEM : 0;
}
}

#endif
