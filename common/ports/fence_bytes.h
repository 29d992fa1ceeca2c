// SPDX-License-Identifier: Apache-2.0
// Counts the bytes that a host's instances have put for one fence, in the same way at both ends of the host's
// link: from one release to the next.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "common/ports/agent_port.h"

namespace pop {

class FenceBytes {
 public:
  /// The limit for instances: what fits in one message.
  static constexpr std::size_t kMost = 64 << 20;
  /// The limit for an agent's reports. The agent counts from when it receives a release, so its count
  /// includes values that were already on their way for the fence that the release opens.
  static constexpr std::size_t kMostReported = 2 * kMost;

  explicit FenceBytes(std::size_t most) : most_(most) {}

  /// False, counting nothing, if that would exceed the limit. If a key is put again, because instances gave
  /// up waiting and returned, only the last value counts.
  bool add(const PutValues& values) {
    std::size_t total = total_;
    for (const auto& [key, value] : values) {
      const auto before = by_key_.find(key);
      total += bytesOf(key, value) - (before == by_key_.end() ? 0 : before->second);
    }
    if (total > most_) return false;
    total_ = total;
    for (const auto& [key, value] : values) by_key_.insert_or_assign(key, bytesOf(key, value));
    return true;
  }

  void reset() { *this = FenceBytes(most_); }

 private:
  // The size in memory, including the key stored here: short values take more than their text.
  static std::size_t bytesOf(const std::string& key, const std::string& value) {
    return sizeof(PutValues::value_type) + 2 * key.size() + value.size();
  }

  std::size_t most_;
  std::size_t total_ = 0;
  std::map<std::string, std::size_t> by_key_;
};

}  // namespace pop
