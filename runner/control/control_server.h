// SPDX-License-Identifier: Apache-2.0
// The runner's end of its socket: what clients want of the job, and that there are new records for them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "common/contract/frame.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"
#include "runner/control/door.h"

namespace pop::runner {

class ControlServer final : public Door {
 public:
  /// `begun`: called when the job has.
  ControlServer(os::EpollLoop& loop, sys::Fd listener, DoorEvents events, std::function<void()> begun);
  ~ControlServer() override;
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  void begun(std::uint64_t) override { begun_(); }
  /// Tells the clients, once for all that are appended before the loop next waits.
  void appended() override;
  /// Who does not know it yet sees the connection end, and reads what is there.
  void ended(std::function<void()> leave) override { leave(); }

 private:
  struct Client {
    sys::Fd socket;
    contract::FrameReader reader;
  };

  void accept();
  void receive(int fd);
  bool handle(int fd, const contract::Frame& frame);
  void close(int fd);

  os::EpollLoop& loop_;
  const sys::Fd listener_;
  const DoorEvents events_;
  const std::function<void()> begun_;
  std::map<int, Client> clients_;
  bool tells_ = false;
};

}  // namespace pop::runner
