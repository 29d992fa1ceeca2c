// SPDX-License-Identifier: Apache-2.0
// Memory that all instances of this host share: collectives between them read and write it directly, without
// copies.
#pragma once

#include <cstddef>
#include <utility>

#include "popdist/context.hpp"

namespace popdist {

/// Takes `bytes` of this host's shared heap, aligned to 64 bytes. The contents are undefined. Its pages are
/// mapped already, so no collective waits for the system to map them. 0 bytes also give a unique address.
/// Local, not collective; from any thread. Cost: the system clears memory that is new to the heap, some 2
/// GB/s; memory that was given back before is not cleared. Throws popdist_error kResourceExhausted when the
/// host's segment (64 GiB and more) or its memory is full.
void* allocateShared(Context& context, std::size_t bytes);

/// Gives memory back. No call that uses it may be under way, on any instance. nullptr: nothing happens.
void freeShared(Context& context, void* memory) noexcept;

/// Owns memory of allocateShared.
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

  /// Gives up ownership: the caller passes the returned address to freeShared(). The buffer is empty then.
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
