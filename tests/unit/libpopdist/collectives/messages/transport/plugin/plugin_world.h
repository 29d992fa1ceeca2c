// SPDX-License-Identifier: Apache-2.0
// Ranks that reach each other over a backend's plugin which moves bytes within this process: it takes, shows
// and cuts as few or as many at a time as chance has it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/collectives/messages/transport/plugin/plugin_connections.h"

namespace popdist::transport {

class PluginWorld {
 public:
  /// A piece has `most_piece` bytes at most; a channel takes `capacity`.
  explicit PluginWorld(int ranks, std::size_t most_piece = 1000, std::size_t capacity = 10'000);
  ~PluginWorld();
  PluginWorld(const PluginWorld&) = delete;
  PluginWorld& operator=(const PluginWorld&) = delete;

  int size() const { return static_cast<int>(connections_.size()); }
  Connections& connections(int rank) { return *connections_[static_cast<std::size_t>(rank)]; }
  Endpoint& endpoint(int rank) { return connections(rank).endpoint(rank); }
  Connection& connection(int rank, int peer) { return endpoint(rank).peer(peer); }
  Sleeper& sleeperOf(int rank) { return connections(rank).sleeper(); }

  /// Whether what is sent is said to be with its receivers.
  void setDelivers(bool delivers);
  /// All others lose the rank. What it has sent can still be received.
  void lose(int rank, const PopdistStatus& why);
  /// To whom the rank has closed.
  const std::vector<int>& closedBy(int rank) const { return ranks_[static_cast<std::size_t>(rank)].closed; }

  /// What becomes of a member whose plugin answers so to `offer`.
  static pop::Result<std::unique_ptr<Connections>> makeOne(const PopdistStatus& answer);
  /// What becomes of one whose plugin answers so to `connect`, or whose others have `ended`.
  static pop::Status connectAnew(const PopdistStatus& answer, const std::optional<std::string>& ended);

 private:
  struct Channel {
    std::vector<std::byte> sent;   ///< not shown yet
    std::vector<std::byte> shown;  ///< the receiver's own
    std::size_t released = 0;
    std::optional<std::vector<std::byte>> last;
  };
  struct Rank {
    PluginWorld* world = nullptr;
    const PopdistGroupInfo* info = nullptr;
    std::optional<PopdistStatus> lost{};
    std::vector<int> closed{};
    std::uint64_t seen = 0;
  };
  struct Calls;

  Channel& channel(int from, int to) {
    return channels_[static_cast<std::size_t>(from) * ranks_.size() + static_cast<std::size_t>(to)];
  }
  void changed();

  const std::size_t most_piece_;
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable change_;
  std::uint64_t changes_ = 0;
  pop::SplitMix64 random_{1};
  bool delivers_ = true;
  PopdistStatus connecting_{};
  std::vector<Rank> ranks_;
  std::vector<Channel> channels_;
  std::vector<std::unique_ptr<Connections>> connections_;
};

}  // namespace popdist::transport
