// SPDX-License-Identifier: Apache-2.0
// What a backend has to do where collectives are made of messages: move frames between members. Everything
// else (algorithms, deadlines, who has ended, calls that do not match) is done once, in exchange.h and
// collectives.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/sys/awake_clock.h"
#include "popdist/backend_plugin.hpp"

namespace popdist::backends {

/// Goes before the bytes of each frame, so that calls which do not match are an error and not garbage.
struct FrameHead {
  std::uint64_t sequence = 0;        ///< calls of the group before this one
  std::uint64_t key = 0;             ///< exec::CallKey
  std::uint64_t count = 0;           ///< elements, as the caller gave them
  std::uint64_t transfer_bytes = 0;  ///< of which this frame carries a part
};

inline constexpr std::size_t kMostPayloadBytes = std::size_t{256} << 10;

inline constexpr std::size_t kMostNoteBytes = 1024;

struct Frame {
  FrameHead head;
  std::span<const std::byte> payload;
};

/// Why a member cannot go on.
struct Failure {
  pop::Status status;
  int peer_rank = -1;
  bool known_to_all = false;  ///< the others learn of it without being told
  bool ok() const { return status.ok(); }
};

/// One member's ways to all others. Frames between two members arrive whole and in order. One thread at a
/// time.
class Fabric {
 public:
  using Clock = pop::sys::AwakeClock;
  using Deadline = Clock::time_point;
  virtual ~Fabric() = default;

  /// Where the others reach this member: any bytes, at most 1 KiB.
  virtual std::string address() const = 0;
  /// With what each rank's address() is.
  virtual pop::Status connect(const std::vector<std::string>& addresses, Deadline deadline) = 0;

  /// Takes a copy of the frame, or nothing: false, as too many are under way to this member.
  virtual bool trySend(int to, const Frame& frame) = 0;
  /// The oldest frame from this member that has not been popped; it stays where it is until then.
  virtual std::optional<Frame> front(int from) = 0;
  virtual void pop(int from) = 0;
  /// Everything sent is with the members or will get there even if this process ends.
  virtual bool allSent() = 0;
  /// Returns when one of these may have changed, and after at most 50 ms.
  virtual void wait() = 0;

  /// Why nothing more will come from or go to this member, as far as its connection tells; else "".
  virtual std::string broken(int peer) = 0;
  /// Tells all others, whether they are in a call or not: at most kMostNoteBytes.
  virtual void tell(std::span<const std::byte> note) = 0;
  /// What another one has told; what one has told comes in that order.
  virtual std::optional<std::vector<std::byte>> nextNote() = 0;
};

// What each backend defines.

extern const char* const kBackendName;

/// One member's fabric. `info` lives as long.
pop::Result<std::unique_ptr<Fabric>> makeFabric(const PopdistGroupInfo& info);

}  // namespace popdist::backends
