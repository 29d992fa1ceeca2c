// SPDX-License-Identifier: Apache-2.0
// One member's part of one call, as transfers to and from other members.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "libpopdist/backends/messages/fabric.h"
#include "libpopdist/backends/messages/failure_note.h"

namespace popdist::backends {

struct Outgoing {
  int to = -1;  ///< -1: nothing goes out
  std::span<const std::byte> bytes;
};

struct Incoming {
  int from = -1;  ///< -1: nothing comes in
  std::size_t bytes = 0;
  /// Takes the transfer's bytes from `offset` on, in order, in pieces of kMostPayloadBytes and a last one.
  std::function<void(std::size_t offset, std::span<const std::byte> piece)> sink;
};

class Exchange {
 public:
  /// `head` is what every frame of this call says, but for the bytes. `tensor` is named in messages.
  Exchange(Fabric& fabric, const PopdistGroupInfo& info, const FrameHead& head, const char* tensor,
           Fabric::Deadline deadline)
      : fabric_(fabric), info_(info), head_(head), tensor_(tensor), deadline_(deadline) {}

  /// Sends and receives at once; returns when `incoming` is there and `outgoing` has been copied. A transfer
  /// of no bytes is a frame, too.
  Failure run(const Outgoing& outgoing, const Incoming& incoming);

  /// Returns when all that has been sent is on its way whatever happens to this process.
  Failure flush();

 private:
  Failure take(const Incoming& incoming, const Frame& frame, std::size_t& received);
  Failure idle(std::span<const std::int32_t> awaited);
  Failure lost(std::span<const std::int32_t> awaited) const;
  Failure missed(std::span<const std::int32_t> awaited) const;
  Failure told();
  Failure late(std::span<const std::int32_t> awaited);
  std::optional<std::int32_t> absent() const;
  Failure broken(std::span<const std::int32_t> awaited);

  Fabric& fabric_;
  const PopdistGroupInfo& info_;
  const FrameHead head_;
  const char* const tensor_;
  const Fabric::Deadline deadline_;
  std::set<std::int32_t> come_;  ///< who has sent something of this call
  std::vector<Wait> waits_;      ///< that have become too long
  bool has_waited_ = false;      ///< this rank, in this call
  bool came_late_ = false;       ///< when others' waits had become too long
  std::optional<Fabric::Deadline> broken_since_;
};

}  // namespace popdist::backends
