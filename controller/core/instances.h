// SPDX-License-Identifier: Apache-2.0
// The instances of one attempt: what each is doing, and how many are in each state.
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include "common/base/check.h"
#include "common/ports/agent_port.h"
#include "controller/core/instance_fsm.h"

namespace pop {

class Instances {
 public:
  explicit Instances(int count) : all_(static_cast<std::size_t>(count)) {
    in_state_[static_cast<std::size_t>(InstanceState::kPending)] = count;
  }

  int count() const { return static_cast<int>(all_.size()); }
  InstanceState state(int instance) const { return all_[static_cast<std::size_t>(instance)].state; }
  pid_t pid(int instance) const { return all_[static_cast<std::size_t>(instance)].pid; }  ///< 0: not known
  void setPid(int instance, pid_t pid) { all_[static_cast<std::size_t>(instance)].pid = pid; }

  void advance(int instance, InstanceEvent event) {
    const auto next = step(state(instance), event);
    POP_CHECK(next.has_value());  // an agent that breaks its own order of events is our bug
    --in_state_[static_cast<std::size_t>(state(instance))];
    all_[static_cast<std::size_t>(instance)].state = *next;
    ++in_state_[static_cast<std::size_t>(*next)];
  }

  bool noneIsStarting() const { return in_state_[static_cast<std::size_t>(InstanceState::kStarting)] == 0; }
  bool allAreClosed() const { return in_state_[static_cast<std::size_t>(InstanceState::kClosed)] == count(); }

  /// The instances that were started and have not ended.
  std::set<int> open() const {
    std::set<int> open;
    for (int instance = 0; instance < count(); ++instance) {
      if (state(instance) == InstanceState::kStarting || state(instance) == InstanceState::kRunning)
        open.insert(instance);
    }
    return open;
  }

 private:
  struct Instance {
    InstanceState state = InstanceState::kPending;
    pid_t pid = 0;
  };

  std::vector<Instance> all_;
  std::array<int, kInstanceStates> in_state_{};
};

}  // namespace pop
