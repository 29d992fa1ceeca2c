// SPDX-License-Identifier: Apache-2.0
// Tasks that were posted to a loop can outlive the object that posted them. An object with a WhileThere as
// its last member posts guarded tasks: they do nothing once the object is gone.
#pragma once

#include <memory>
#include <utility>

namespace pop {

class WhileThere {
 public:
  WhileThere() = default;
  WhileThere(const WhileThere&) = delete;
  WhileThere& operator=(const WhileThere&) = delete;

  /// `task`, as long as this object exists. Both on one thread.
  template <typename Task>
  auto operator()(Task task) const {
    return [is_there = std::weak_ptr<const char>(is_there_), task = std::move(task)]() mutable {
      if (!is_there.expired()) task();
    };
  }

 private:
  std::shared_ptr<const char> is_there_ = std::make_shared<const char>();
};

}  // namespace pop
