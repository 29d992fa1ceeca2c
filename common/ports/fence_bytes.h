// SPDX-License-Identifier: Apache-2.0
// How much a host's instances have put for one fence, as both ends of the host's link count it: from one
// release to the next.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "common/ports/agent_port.h"

namespace pop {

class FenceBytes {
 public:
  /// What instances may put: as much as one message has room for.
  static constexpr std::size_t kMost = 64 << 20;
  /// What an agent may report, which counts from when it hears of a release: what had been put until then for
  /// the fence that opens is on its way.
  static constexpr std::size_t kMostReported = 2 * kMost;

  explicit FenceBytes(std::size_t most) : most_(most) {}

  /// False, and nothing is counted: it would be more than that. Of a key that comes again, since instances
  /// had given up waiting and are back, the last value counts.
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
  // As they are kept, and the key here, too: short ones cost more than what they say.
  static std::size_t bytesOf(const std::string& key, const std::string& value) {
    return sizeof(PutValues::value_type) + 2 * key.size() + value.size();
  }

  std::size_t most_;
  std::size_t total_ = 0;
  std::map<std::string, std::size_t> by_key_;
};

}  // namespace pop
