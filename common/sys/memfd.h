// SPDX-License-Identifier: Apache-2.0
// Anonymous shared memory: a descriptor that can be passed on, and its mapping.
#pragma once

#include <cstddef>
#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::sys {

/// Creates zeroed memory of `bytes`. It is sparse: a page costs nothing until it is touched. The size is
/// sealed. kResourceExhausted: RLIMIT_FSIZE is lower.
Result<Fd> createMemfd(const std::string& name, std::size_t bytes);

class Mapping {
 public:
  Mapping() = default;
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  friend Result<Mapping> mapShared(int fd, std::size_t bytes);
  friend Result<Mapping> mapAnonymous(std::size_t bytes);
  static Result<Mapping> map(int fd, std::size_t bytes, int flags);
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// `wanted` bytes, or as many as a `share`-th of the address space that this process may have (`ulimit -v`).
std::size_t mappableBytes(std::size_t wanted, std::size_t share);

/// Maps the first `bytes` of `fd`, readable and writable, shared with all others who map it. Excluded from
/// core dumps.
Result<Mapping> mapShared(int fd, std::size_t bytes);

/// Maps zeroed memory that only this process (and its forks) can see; sparse.
Result<Mapping> mapAnonymous(std::size_t bytes);

}  // namespace pop::sys
