// SPDX-License-Identifier: Apache-2.0
// The launcher's stdin for instances on other hosts: as fast as the slowest host takes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/io/stdin_feed.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"
#include "popdistd/agents/remote_agent.h"

namespace pop {

class StdinRelay {
 public:
  explicit StdinRelay(os::EpollLoop& loop);
  ~StdinRelay();
  StdinRelay(const StdinRelay&) = delete;
  StdinRelay& operator=(const StdinRelay&) = delete;

  /// A run begins in which `hosts` get stdin: one that did so in the run before what comes next there,
  /// another one, or one where nobody read any more, what comes next in the input. After an error no host
  /// gets any more.
  Status begin(const std::vector<RemoteAgent*>& hosts);

  /// The job is over. Of a file that one host has got, what was not read there is left to whoever reads it
  /// after us.
  void finish();

 private:
  struct Receiver {
    RemoteAgent* host = nullptr;
    int number = 0;  ///< for the feed
    sys::Fd pipe;    ///< none: it gets no more
    bool watching = false;
    bool unread = false;  ///< nobody there reads what would come before the next run
  };

  void keepOnly(const std::vector<RemoteAgent*>& hosts);
  Status add(const std::vector<RemoteAgent*>& hosts);
  bool receives(const RemoteAgent* host) const;
  void giveUp(const std::vector<RemoteAgent*>& hosts);
  void advance(Receiver& receiver);
  void leaveOut(Receiver& receiver);
  void close(Receiver& receiver);
  void end(Receiver& receiver);

  os::EpollLoop& loop_;
  agent::StdinFeed feed_;
  std::vector<std::unique_ptr<Receiver>> receivers_;
  int last_number_ = 0;
  bool is_second_attempt_ = false;  ///< or a later one
  Status failure_;
};

}  // namespace pop
