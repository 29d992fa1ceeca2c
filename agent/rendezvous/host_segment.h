// SPDX-License-Identifier: Apache-2.0
// The agent's side of this host's shared-memory segment. Any instance can write anywhere in it: the agent
// checks what it reads, and never reads back its own words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/contract/segment.h"
#include "common/ports/agent_port.h"
#include "common/sys/fd.h"
#include "common/sys/memfd.h"

namespace pop::agent {

class HostSegment {
 public:
  struct Entry {
    std::uint32_t number = 0;
    std::string tag;
  };

  /// Creates the segment for a job of `instances`. `reports_wanted`: of what they report of themselves.
  /// `most_bytes`: that an instance can map.
  Status create(int instances, bool reports_wanted, std::size_t most_bytes);
  bool exists() const { return fd_.valid(); }
  int fd() const { return fd_.get(); }
  std::size_t bytes() const { return bytes_; }

  /// Publishes the end of `instance` as end notice number `index`.
  void publish(std::uint32_t index, const EndNotice& end_notice);

  /// Returns the number of the last entry in the slot of `instance`.
  std::uint32_t lastEntry(int instance) const;
  /// Returns the entry in its slot; nothing if that is the entry `answered`, or if its message counts
  /// instead.
  std::optional<Entry> entryAfter(std::uint32_t answered, int instance) const;
  void answer(int instance, std::uint32_t entry, bool failed);
  /// The instance that it was told of a failure by; it may say any number. -1: none.
  int toldBy(int instance) const {
    return static_cast<int>(slot(instance).told_by.load(std::memory_order_acquire)) - 1;
  }
  /// The instance's reports; without those that cannot be.
  std::vector<contract::ReadReport> reportsOf(int instance) const;
  /// Wakes the instances that wait for an answer in their slots.
  void wakeWaiters();

 private:
  contract::SegmentHeader* header() const {
    return reinterpret_cast<contract::SegmentHeader*>(mapping_.data());
  }
  contract::FenceSlot& slot(int instance) const;

  sys::Fd fd_;
  std::size_t bytes_ = 0;
  std::uint32_t instances_ = 0;
  std::uint32_t answers_ = 0;
  sys::Mapping mapping_;
};

}  // namespace pop::agent
