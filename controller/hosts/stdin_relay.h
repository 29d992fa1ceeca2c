// SPDX-License-Identifier: Apache-2.0
// Relays the launcher's stdin to instances on other hosts, as fast as the slowest host takes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/io/stdin_feed.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"
#include "controller/hosts/remote_agent.h"

namespace pop {

class StdinRelay {
 public:
  explicit StdinRelay(os::EpollLoop& loop);
  ~StdinRelay();
  StdinRelay(const StdinRelay&) = delete;
  StdinRelay& operator=(const StdinRelay&) = delete;

  /// Begins a run in which `hosts` get stdin. A host that was reading in the previous run continues where it
  /// stopped; any other host starts at the current position of the input. After an error no host gets any
  /// more input.
  Status begin(const std::vector<RemoteAgent*>& hosts);

  /// The job is over. If stdin is a file that only one host has read, the file position moves back to the
  /// first unread byte, for the next reader.
  void finish();

 private:
  struct Receiver {
    RemoteAgent* host = nullptr;
    int number = 0;  ///< its number at the feed
    sys::Fd pipe;    ///< invalid: the host gets no more input
    bool watching = false;
    bool unread = false;  ///< no instance there reads any more in this run
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
  bool is_second_attempt_ = false;  ///< true from the second attempt on
  Status failure_;
};

}  // namespace pop
