// SPDX-License-Identifier: Apache-2.0
// The plugin interface (popdist/backend_plugin.hpp) as a C++ class, for the backends of this project: it
// moves bytes between the members of a communicator. plugin.cpp is its C interface.
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

  /// The address at which the others reach this member: any bytes, at most 1 KiB.
  virtual std::string address() const = 0;
  /// Connects, given the address() of each rank.
  virtual pop::Status connect(const std::vector<std::string>& addresses) = 0;

  // See the functions of these names in PopdistBackend.

  virtual std::size_t trySend(int to, std::span<const std::byte> first,
                              std::span<const std::byte> second) = 0;
  virtual std::span<const std::byte> tryReceive(int from) = 0;
  virtual void release(int from, std::size_t bytes) = 0;
  virtual bool isDelivered(int to) = 0;
  /// The reason of a member's loss (ok: it is not lost), and the message with which it closed.
  virtual pop::Status failure(int peer) = 0;
  virtual std::span<const std::byte> lastOf(int peer) = 0;
  virtual void wait(std::chrono::milliseconds timeout) = 0;
  virtual void close(int to, std::span<const std::byte> last) = 0;
};

// Each backend defines this:

extern const char* const kBackendName;

/// Makes the fabric of one member. `info` outlives it.
pop::Result<std::unique_ptr<Fabric>> makeFabric(const PopdistGroupInfo& info);

}  // namespace popdist::backends
