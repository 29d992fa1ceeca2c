// SPDX-License-Identifier: Apache-2.0
// This host's shared-memory segment from the agent's side. Any instance can write whatever it likes into it:
// what is read from there is checked, and the agent's own words are never read back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

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

  /// For a job of `instances`.
  Status create(int instances);
  bool exists() const { return fd_.valid(); }
  int fd() const { return fd_.get(); }
  std::size_t bytes() const { return bytes_; }

  /// As number `index` of those that have ended.
  void publish(std::uint32_t index, const EndNotice& end_notice);

  /// Number of the last entry in the slot of `instance`.
  std::uint32_t lastEntry(int instance) const;
  /// What its slot holds, unless that is the entry `answered` or its message counts.
  std::optional<Entry> entryAfter(std::uint32_t answered, int instance) const;
  void answer(int instance, std::uint32_t entry, bool failed);
  /// Whoever waits for an answer in its slot.
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
