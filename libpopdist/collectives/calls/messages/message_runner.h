// SPDX-License-Identifier: Apache-2.0
// Runs plans over the connections of a group's ranks: one call after another.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libpopdist/collectives/group/end_notice_monitor.h"
#include "libpopdist/collectives/group/members.h"
#include "libpopdist/collectives/messages/exec/executor.h"
#include "libpopdist/collectives/messages/transport/connections.h"

namespace popdist::calls {

class MessageRunner {
 public:
  /// `connections` of all ranks. `members` outlives this.
  MessageRunner(const group::Members& members, std::unique_ptr<transport::Connections> connections)
      : members_(members),
        connections_(std::move(connections)),
        monitor_(members),
        heard_(static_cast<std::size_t>(members.size())) {}

  /// One local rank's part of a call; parts in the order of Members::localRanks().
  struct Part {
    const plan::Plan* plan = nullptr;
    const void* input = nullptr;
    void* output = nullptr;
  };

  /// The next plans belong to the next call.
  void nextCall() { ++calls_; }
  /// Runs one plan for each local rank. Fills in the call's sequence, members and group.
  exec::Failure run(exec::Call call, std::span<const Part> parts, std::chrono::milliseconds timeout);
  std::uint64_t callsBegun() const { return calls_; }
  /// As CallPath's.
  exec::Header note() const;
  bool tell(int instance, const exec::Header& note, bool dials);
  /// In a call that waits for something else than messages: the failure of a rank that has aborted it.
  std::optional<exec::Failure> overhear(exec::Call call);
  /// Sends the abort message and closes all connections.
  void abort(const exec::Failure& failure);

  const group::Members& members() const { return members_; }
  /// True if messages between some ranks cost as much as over a network.
  bool overNetwork() const { return connections_->overNetwork(); }
  void setDeadline(const exec::MovingDeadline& deadline) { moving_deadline_ = deadline; }
  /// Sets the function that returns the failure of a peer known by other means; called while a call waits.
  void setPeerFailure(std::function<std::optional<exec::Failure>()> peer_failure) {
    peer_failure_ = std::move(peer_failure);
  }

 private:
  void placeInGroup(exec::Call& call) const;

  const group::Members& members_;
  const std::unique_ptr<transport::Connections> connections_;
  group::EndNoticeMonitor monitor_;
  std::vector<exec::Heard> heard_;  ///< one for each rank
  std::function<std::optional<exec::Failure>()> peer_failure_;
  exec::MovingDeadline moving_deadline_;
  std::uint64_t calls_ = 0;
  const exec::Call* current_ = nullptr;  ///< in run()
};

}  // namespace popdist::calls
