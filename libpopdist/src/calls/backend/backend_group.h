// SPDX-License-Identifier: Apache-2.0
// One member of a communicator that runs on a plugin: keeps the plugin's group, and translates.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/sys/forks.h"
#include "libpopdist/src/group/call_path.h"
#include "libpopdist/src/group/end_notice_monitor.h"
#include "popdist/backend_plugin.hpp"

namespace popdist::calls {

class BackendGroup final : public group::CallPath {
 public:
  struct Member {
    std::uint64_t group_number = 0;
    std::string host_address;
    std::chrono::milliseconds timeout{0};
  };

  /// `members` outlive it; one rank is of this instance.
  BackendGroup(const PopdistBackend& plugin, const Member& member, const group::Members& members);
  ~BackendGroup() override;

  /// Where the others reach this member; to be exchanged through a fence. Any bytes, at most 1 KiB.
  pop::Result<std::string> offer();
  /// With what each rank has offered.
  exec::Failure connect(const std::vector<std::string>& addresses);

  bool run(const group::CollectiveCall& call) override;
  exec::Failure takeFailure() override { return failure_; }
  void giveUp(const exec::Failure&) override {}  // the plugin has told the others
  /// At most until then: the plugin goes by the calls' own timeouts, too.
  void setDeadline(const exec::MovingDeadline& deadline) override { moving_deadline_ = deadline; }

 private:
  static std::int32_t ended(void* self, const std::int32_t* awaited, std::int32_t count, char* text,
                            std::size_t text_bytes);
  static std::int32_t timeIsUp(void* self);
  exec::Failure failureOf(const PopdistStatus& status) const;

  const PopdistBackend& plugin_;
  group::EndNoticeMonitor monitor_;
  const std::vector<std::int32_t> instance_of_rank_;
  const std::string host_address_;
  const PopdistGroupInfo info_;
  exec::MovingDeadline moving_deadline_;
  void* group_ = nullptr;
  exec::Failure failure_;
  const unsigned fork_ = pop::sys::forksOfThisProcess();
};

}  // namespace popdist::calls
