// SPDX-License-Identifier: Apache-2.0
// The fence of one host's instances, and the values that they exchange through it. Pure.
// A value that was put becomes visible to get, everywhere, when the next fence is released.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/ports/agent_port.h"

namespace pop::agent {

class Fence {
 public:
  explicit Fence(std::size_t local_instances) : local_instances_(local_instances) {}

  void put(int instance, std::string key, std::string value) {
    staged_[instance].insert_or_assign(std::move(key), std::move(value));
  }

  std::optional<std::string> get(const std::string& key) const {
    const auto found = released_.find(key);
    return found == released_.end() ? std::nullopt : std::optional(found->second);
  }

  /// All released values whose keys begin with `prefix`: key, value, key, value, …
  std::vector<std::string> getAll(const std::string& prefix) const {
    std::vector<std::string> fields;
    for (auto each = released_.lower_bound(prefix);
         each != released_.end() && each->first.starts_with(prefix); ++each)
      fields.insert(fields.end(), {each->first, each->second});
    return fields;
  }

  /// `instance` enters the fence; `tag` names the call that it enters for.
  void enter(int instance, std::string tag) { inside_.insert_or_assign(instance, std::move(tag)); }

  /// True when all instances of this host are inside: then call collect() and report.
  bool complete() const { return inside_.size() == local_instances_; }

  /// `instance` has given up or is gone: the values it has put since the last fence are dropped.
  void leave(int instance) {
    inside_.erase(instance);
    staged_.erase(instance);
  }

  /// Returns the values that this host's instances have put since the last fence.
  PutValues collect() {
    PutValues values;
    for (auto& [instance, put] : std::exchange(staged_, {})) {
      for (auto& [key, value] : put) values.insert_or_assign(key, std::move(value));
    }
    return values;
  }

  /// Makes the values of all hosts visible and opens the fence; returns the instances inside, with their
  /// tags.
  std::map<int, std::string> release(const PutValues& values) {
    for (const auto& [key, value] : values) released_.insert_or_assign(key, value);
    return std::exchange(inside_, {});
  }

  /// The instances inside, with their tags.
  const std::map<int, std::string>& inside() const { return inside_; }

 private:
  const std::size_t local_instances_;
  std::map<int, PutValues> staged_;
  PutValues released_;
  std::map<int, std::string> inside_;
};

}  // namespace pop::agent
