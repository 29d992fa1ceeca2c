// SPDX-License-Identifier: Apache-2.0
// The interface of every contestant's rank, between the measuring protocol and the contestant.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace pop::bench::collectives {

/// Counts are in elements of the member's type. Memory comes from allocate().
class Member {
 public:
  virtual ~Member() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Aligned to at least 64 bytes; lives as long as the member. The default is ordinary memory.
  virtual void* allocate(std::size_t bytes) {
    constexpr std::size_t kPage = 4096;
    memory_.emplace_back(std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage));
    if (memory_.back() == nullptr) throw std::bad_alloc();
    return memory_.back().get();
  }

  virtual void allReduce(void* data, std::size_t count) = 0;  // sum, in place
  virtual void broadcast(void* data, std::size_t count, int root) = 0;
  virtual void allGather(const void* in, void* out, std::size_t count) = 0;  // out: size() * count
  /// `in`: size() * count elements. Returns the position of this rank's `count` sums: `out`, or `in` for
  /// in-place implementations.
  virtual void* reduceScatter(void* in, void* out, std::size_t count) = 0;
  virtual void allToAll(const void* in, void* out, std::size_t count) = 0;  // both: size() * count
  virtual void barrier() = 0;

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<void, Free>> memory_;
};

}  // namespace pop::bench::collectives
