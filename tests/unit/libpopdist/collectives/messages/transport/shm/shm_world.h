// SPDX-License-Identifier: Apache-2.0
// A host's segment and the shared-memory groups of several "processes", which a test runs as threads.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/contract/segment.h"
#include "common/sys/memfd.h"
#include "libpopdist/collectives/messages/transport/shm/shm_group.h"

namespace popdist::transport {

/// A fresh segment of full size; sparse, so it costs what is touched.
class TestSegment {
 public:
  TestSegment() {
    const std::size_t bytes = pop::contract::segmentBytesFor(1);
    const pop::sys::Fd memory = pop::sys::createMemfd("test-segment", bytes).value();
    mapping_ = pop::sys::mapShared(memory.get(), bytes).value();
    pop::contract::initialiseSegment(mapping_.data(), bytes, 1);
  }
  SegmentView view() const { return {mapping_.data(), mapping_.size()}; }

 private:
  pop::sys::Mapping mapping_;
};

/// Connected groups: process p holds the ranks `ranks_of_process[p]`; all ranks from 0 up occur once.
class ShmWorld {
 public:
  explicit ShmWorld(const std::vector<std::vector<int>>& ranks_of_process) {
    for (const auto& ranks : ranks_of_process) size_ += static_cast<int>(ranks.size());
    std::vector<std::string> addresses(static_cast<std::size_t>(size_));
    processes_.resize(addresses.size());
    for (const auto& ranks : ranks_of_process) {
      groups_.push_back(ShmGroup::create(segment_.view(), size_, ranks).value());
      for (const int rank : ranks) {
        addresses[static_cast<std::size_t>(rank)] = groups_.back()->address(rank);
        processes_[static_cast<std::size_t>(rank)] = groups_.back().get();
      }
    }
    for (const auto& group : groups_) {
      if (!group->connect(addresses).ok()) throw std::runtime_error("cannot connect");
    }
  }

  /// `ranks` processes with one rank each.
  static ShmWorld oneRankEach(int ranks) {
    std::vector<std::vector<int>> each;
    for (int rank = 0; rank < ranks; ++rank) each.push_back({rank});
    return ShmWorld(each);
  }

  int size() const { return size_; }
  ShmGroup& groupOf(int rank) { return *processes_[static_cast<std::size_t>(rank)]; }
  Endpoint& endpoint(int rank) { return groupOf(rank).endpoint(rank); }
  Connection& connection(int rank, int peer) { return endpoint(rank).peer(peer); }
  Sleeper& sleeperOf(int rank) { return groupOf(rank).sleeper(); }

 private:
  TestSegment segment_;
  int size_ = 0;
  std::vector<std::unique_ptr<ShmGroup>> groups_;
  std::vector<ShmGroup*> processes_;  ///< by rank
};

}  // namespace popdist::transport
