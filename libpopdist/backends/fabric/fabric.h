// SPDX-License-Identifier: Apache-2.0
// The interface of backends (popdist/backend_plugin.hpp) as a C++ class, for those of this project: it moves
// bytes between the members of a communicator. plugin.cpp is its C face.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "popdist/backend_plugin.hpp"

namespace popdist::backends {

/// One member's streams to and from all others. One thread at a time.
class Fabric {
 public:
  virtual ~Fabric() = default;

  /// Where the others reach this member: any bytes, at most 1 KiB.
  virtual std::string address() const = 0;
  /// With what each rank's address() is.
  virtual pop::Status connect(const std::vector<std::string>& addresses) = 0;

  // As the functions of these names in PopdistBackend say.

  virtual std::size_t trySend(int to, std::span<const std::byte> first,
                              std::span<const std::byte> second) = 0;
  virtual std::span<const std::byte> tryReceive(int from) = 0;
  virtual void release(int from, std::size_t bytes) = 0;
  virtual bool isDelivered(int to) = 0;
  /// Why the member is lost, and what it has closed with; else well.
  virtual pop::Status failure(int peer) = 0;
  virtual std::span<const std::byte> lastOf(int peer) = 0;
  virtual void wait(std::chrono::milliseconds timeout) = 0;
  virtual void close(int to, std::span<const std::byte> last) = 0;
};

// What each backend defines.

extern const char* const kBackendName;

/// One member's fabric. `info` lives as long.
pop::Result<std::unique_ptr<Fabric>> makeFabric(const PopdistGroupInfo& info);

}  // namespace popdist::backends
