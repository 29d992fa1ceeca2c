// SPDX-License-Identifier: Apache-2.0
// The groups of a context, by number, and their callers.
#pragma once

#include <map>
#include <mutex>

namespace popdist::group {
class Group;
}

namespace popdist::context {

class Groups {
 public:
  void add(int number, group::Group& group) {
    const std::lock_guard lock(mutex_);
    groups_[number] = &group;
  }
  void remove(int number) {
    const std::lock_guard lock(mutex_);
    groups_.erase(number);
  }
  bool has(int number) {
    const std::lock_guard lock(mutex_);
    return groups_.contains(number);
  }
  /// Calls body(number, group) for all that there are. None comes or goes meanwhile.
  template <typename Body>
  void forEach(const Body& body) {
    const std::lock_guard lock(mutex_);
    for (auto& [number, group] : groups_) body(number, *group);
  }
  /// Calls body(group), which cannot go meanwhile, if there is one. Returns what it does, or false.
  template <typename Body>
  bool with(int number, const Body& body) {
    const std::lock_guard lock(mutex_);
    const auto found = groups_.find(number);
    return found != groups_.end() && body(*found->second);
  }

 private:
  std::mutex mutex_;
  std::map<int, group::Group*> groups_;
};

}  // namespace popdist::context
