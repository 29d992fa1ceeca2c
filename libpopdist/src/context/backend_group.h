// SPDX-License-Identifier: Apache-2.0
// One member of a communicator that runs on a plugin: keeps the plugin's group, and translates.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/sys/forks.h"
#include "libpopdist/src/context/collective_call.h"
#include "libpopdist/src/exec/executor.h"
#include "popdist/backend_plugin.hpp"

namespace popdist::context {

class BackendGroup {
 public:
  struct Member {
    std::uint64_t group_number = 0;
    int rank = 0;
    std::vector<int> instance_of_rank;
    std::string host_address;
    std::chrono::milliseconds timeout{0};
  };

  /// `monitor` is asked for members that have ended; it must outlive the group.
  BackendGroup(const PopdistBackend& plugin, const Member& member, exec::PeerMonitor& monitor);
  ~BackendGroup();
  BackendGroup(const BackendGroup&) = delete;
  BackendGroup& operator=(const BackendGroup&) = delete;

  /// Where the others reach this member; to be exchanged through a fence. Any bytes, at most 1 KiB.
  pop::Result<std::string> offer();
  /// With what each rank has offered.
  exec::Failure connect(const std::vector<std::string>& addresses);
  exec::Failure run(const CollectiveCall& call);
  /// From now on calls wait until then at most; empty: as long as they may themselves.
  void setDeadline(exec::MovingDeadline deadline) { moving_deadline_ = std::move(deadline); }

 private:
  static std::int32_t ended(void* self, const std::int32_t* awaited, std::int32_t count, char* text,
                            std::size_t text_bytes);
  static std::int32_t timeIsUp(void* self);
  exec::Failure failureOf(const PopdistStatus& status) const;

  const PopdistBackend& plugin_;
  exec::PeerMonitor& monitor_;
  const std::vector<std::int32_t> instance_of_rank_;
  const std::string host_address_;
  const PopdistGroupInfo info_;
  exec::MovingDeadline moving_deadline_;
  void* group_ = nullptr;
  const unsigned fork_ = pop::sys::forksOfThisProcess();
};

}  // namespace popdist::context
