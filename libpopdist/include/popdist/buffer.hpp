// SPDX-License-Identifier: Apache-2.0
// Memory that all instances of this host can reach: collectives between them work in it without copies of
// their own.
#pragma once

#include <cstddef>
#include <utility>

#include "popdist/context.hpp"

namespace popdist {

/// Takes `bytes` of this host's shared heap, aligned to 64 bytes and mapped for good: no page of it is
/// touched for the first time in a collective. What is in it is undefined. Cost: what is new to the heap is
/// cleared by the system, some 2 GB/s; what was given back before is not. 0 bytes give an address that is
/// nobody else's, too. Of one instance alone; from any thread. Throws popdist_error with kResourceExhausted
/// when the host's segment (64 GiB and more) or its memory is full.
void* allocateShared(Context& context, std::size_t bytes);

/// Gives it back. No call that uses it may be under way, on any instance. nullptr: nothing happens.
void freeShared(Context& context, void* memory) noexcept;

/// The same as an object.
class Buffer {
 public:
  Buffer(Context& context, std::size_t bytes)
      : context_(&context), data_(allocateShared(context, bytes)), bytes_(bytes) {}
  ~Buffer() { freeShared(*context_, data_); }
  Buffer(Buffer&& other) noexcept : context_(other.context_), data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
    other.bytes_ = 0;
  }
  Buffer& operator=(Buffer&& other) noexcept {
    if (this == &other) return *this;
    freeShared(*context_, data_);
    context_ = other.context_;
    data_ = other.data_;
    bytes_ = other.bytes_;
    other.data_ = nullptr;
    other.bytes_ = 0;
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Leaves the memory taken: whoever calls it gives what it returns to freeShared(), or nobody does. The
  /// buffer has none any more.
  void* release() noexcept {
    bytes_ = 0;
    return std::exchange(data_, nullptr);
  }

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  Context* context_;
  void* data_;
  std::size_t bytes_;
};

/// For containers: std::vector<float, SharedAllocator<float>> weights(n, allocator).
template <typename T>
class SharedAllocator {
 public:
  using value_type = T;

  explicit SharedAllocator(Context& context) : context_(&context) {}
  template <typename U>
  SharedAllocator(const SharedAllocator<U>& other) : context_(&other.context()) {}

  T* allocate(std::size_t count) { return static_cast<T*>(allocateShared(*context_, count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) noexcept { freeShared(*context_, memory); }

  Context& context() const { return *context_; }
  template <typename U>
  bool operator==(const SharedAllocator<U>& other) const {
    return context_ == &other.context();
  }

 private:
  Context* context_;
};

}  // namespace popdist
