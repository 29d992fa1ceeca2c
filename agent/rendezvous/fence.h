// SPDX-License-Identifier: Apache-2.0
// The fence of one host's instances, and the values that they exchange through it. Pure.
// A put value becomes visible to get, everywhere, when the fence that follows it is released.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "popdistd/controller/ports.h"

namespace pop::agent {

class Fence {
 public:
  explicit Fence(std::size_t local_instances) : local_instances_(local_instances) {}

  void put(std::string key, std::string value) { staged_.insert_or_assign(std::move(key), std::move(value)); }

  std::optional<std::string> get(const std::string& key) const {
    const auto found = released_.find(key);
    return found == released_.end() ? std::nullopt : std::optional(found->second);
  }

  /// `instance` enters. True when it was the last of this host: collect() and report.
  bool enter(int instance) {
    inside_.insert(instance);
    return inside_.size() == local_instances_;
  }
  void leave(int instance) { inside_.erase(instance); }

  /// What this host's instances have put since the last fence.
  PutValues collect() { return std::exchange(staged_, {}); }

  /// Makes everybody's values visible and opens the fence; returns who was inside.
  std::set<int> release(const PutValues& values) {
    for (const auto& [key, value] : values) released_.insert_or_assign(key, value);
    return std::exchange(inside_, {});
  }

  const std::set<int>& inside() const { return inside_; }

 private:
  const std::size_t local_instances_;
  PutValues staged_;
  PutValues released_;
  std::set<int> inside_;
};

}  // namespace pop::agent
