// SPDX-License-Identifier: Apache-2.0
// The agent's end of the keeper's socket pair.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "agent/core/ports.h"
#include "agent/keeper/keeper_wire.h"
#include "common/contract/exit_code.h"
#include "common/contract/frame.h"
#include "common/os/epoll_loop.h"

namespace pop::agent {

class KeeperLink {
 public:
  struct Events {
    std::function<void(int instance, pid_t pid)> spawned;
    std::function<void(int instance, int exit_code, const std::string& why)> spawn_failed;
    std::function<void(int instance, contract::ExitStatus status)> reaped;
    std::function<void(int instance)> stopped_by_terminal;
    std::function<void(bool all)> leftovers_ended;
    std::function<void()> lost;
  };

  /// `link` belongs to the caller and must stay open until the KeeperLink is destroyed.
  KeeperLink(os::EpollLoop& loop, int link, Events events);
  ~KeeperLink();

  /// `descriptors`: the child's stdio, and perhaps one that becomes its contract::kPassedDescriptor. The
  /// caller closes its own copies afterwards.
  void spawn(const SpawnRequest& request, std::span<const int> descriptors);
  void signal(int instance, int signal);
  void endLeftovers();  ///< when no instance is left
  bool lost() const { return lost_; }
  /// Removes the directory when everything has ended, with the files that instances started from now on may
  /// have put there.
  void removeAtEnd(const std::string& path);
  const std::vector<std::string>& removedAtEnd() const { return removed_at_end_; }

 private:
  void receive();
  void handle(const keeper::Message& message);
  void changeEnvironment(const std::vector<contract::Variable>& environment);
  Status send(const keeper::Message& message, std::span<const int> fds = {});

  os::EpollLoop& loop_;
  const int link_;
  const Events events_;
  contract::FrameReader reader_;
  std::vector<contract::Variable>
      environment_;  ///< the keeper has it; instances of one program differ little
  std::vector<std::string> removed_at_end_;
  std::string ahead_;  ///< sent together with the next message: on its own it would wake the keeper
  bool lost_ = false;
};

}  // namespace pop::agent
