// SPDX-License-Identifier: Apache-2.0
// Ranks that reach each other over TCP, all in one thread, each as a process of its own.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "libpopdist/collectives/messages/transport/tcp/tcp_group.h"

namespace popdist::transport {

class TcpWorld {
 public:
  TcpWorld(const TcpWorld&) = delete;
  explicit TcpWorld(int ranks, int streams = 1, const char* address = "127.0.0.1")
      : sleepers_(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) {
      groups_.push_back(
          TcpGroup::create({.own_address = address, .job = kKey, .group = 5, .streams = streams},
                           sleeperOf(rank))
              .value());
      addresses_.push_back(groups_.back()->address());
    }
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_TRUE(groupOf(rank).connect({&rank, 1}, addresses_).ok());
      endpoints_.emplace_back(*this, rank);
    }
  }

  int size() const { return static_cast<int>(endpoints_.size()); }

  TcpGroup& groupOf(int rank) { return *groups_[static_cast<std::size_t>(rank)]; }
  SocketSleeper& sleeperOf(int rank) { return sleepers_[static_cast<std::size_t>(rank)]; }
  Connection& connection(int rank, int peer) { return groupOf(rank).connection(rank, peer); }
  Endpoint& endpoint(int rank) { return endpoints_[static_cast<std::size_t>(rank)]; }
  const std::string& address(int rank) const { return addresses_[static_cast<std::size_t>(rank)]; }
  void end(int rank) { groups_[static_cast<std::size_t>(rank)].reset(); }

  static constexpr Key kKey{std::byte{1}, std::byte{2}};

 private:
  class OfRank final : public Endpoint {
   public:
    OfRank(TcpWorld& world, int rank) : world_(world), rank_(rank) {}
    Connection& peer(int rank) override { return world_.connection(rank_, rank); }

   private:
    TcpWorld& world_;
    const int rank_;
  };

  std::vector<SocketSleeper> sleepers_;
  std::vector<std::unique_ptr<TcpGroup>> groups_;
  std::vector<std::string> addresses_;
  std::deque<OfRank> endpoints_;
};

}  // namespace popdist::transport
