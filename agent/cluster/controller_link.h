// SPDX-License-Identifier: Apache-2.0
// The way to popdistd: by popdist-join, a child that speaks gRPC. Tries for ever, in growing intervals.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/service/job_process.h"
#include "agent/service/last_words.h"
#include "agent/service/zombie_reaper.h"
#include "common/base/random.h"
#include "common/os/epoll_loop.h"
#include "common/wire/message_stream.h"
#include "proto/popdist/v1/relay.pb.h"

namespace pop::agent {

namespace v1 = ::popdist::v1;

struct LinkSettings {
  std::vector<std::string> controllers;  ///< "h0:8090": popdistds with one store, tried in turn
  std::string user;                      ///< the Unix user that popdist-join runs as
  std::string agent;                     ///< popdist-agent
  std::string program;                   ///< popdist-join
  /// As whom, read anew for each attempt.
  std::function<Result<v1::RelayConnect>(const std::string& controller)> connect;
};

/// Lives on the loop's thread.
class ControllerLink {
 public:
  struct Events {
    /// An attempt has begun: reports go to popdistd, the first thing that it hears.
    std::function<void()> opened;
    std::function<void(std::string_view order)> order;  ///< a HostOrder, encoded
    std::function<void()> closed;                       ///< reports are dropped until opened()
    std::function<void()> written;                      ///< isFull() may be false now
  };

  /// `loop` and `zombies` outlive it.
  ControllerLink(os::EpollLoop& loop, ZombieReaper& zombies, LinkSettings settings, Events events);
  ~ControllerLink();
  ControllerLink(const ControllerLink&) = delete;
  ControllerLink& operator=(const ControllerLink&) = delete;

  /// Begins the first attempt. From the thread that lives as long as the process: startJobProcess().
  void start() { attempt(); }

  bool isOpen() const { return is_open_; }
  /// The one that it speaks with, or tries to.
  const std::string& controller() const {
    return settings_.controllers[attempts_ % settings_.controllers.size()];
  }

  /// A HostReport, encoded. Dropped if it is not open.
  void send(std::string_view report);

  /// More than 4 MiB wait for popdistd: say no more than what must be said.
  bool isFull() const;

  /// popdistd has welcomed this host: should the connection be lost, the next attempt comes soon.
  void confirm();

  /// Ends the connection, since popdistd has sent what it must not: `why`. Tries again, later.
  void reject(const std::string& why);

  /// Sends what there is, for a second at most, and tries no more; then `stopped`.
  void stop(std::function<void()> stopped);

 private:
  void attempt();
  Status tryToConnect();
  Status startProgram();
  void take(const std::string& message);
  void programEnded();
  void lost(const std::string& why);
  void endProgram();
  void finishStop();

  os::EpollLoop& loop_;
  ZombieReaper& zombies_;
  const LinkSettings settings_;
  const Events events_;
  JobProcess process_;
  std::optional<LastWords> words_;
  std::unique_ptr<wire::MessageStream> stream_;
  bool is_open_ = false;
  bool is_confirmed_ = false;
  std::size_t attempts_ = 0;  ///< that have failed, or ended
  std::map<std::string, std::string>
      last_notes_;  ///< in the log, by controller; the same again is not written
  std::chrono::milliseconds delay_;
  SplitMix64 random_;
  std::optional<TimerId> timer_;
  std::function<void()> stopped_;  ///< once stop() was called
};

}  // namespace pop::agent
