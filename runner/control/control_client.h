// SPDX-License-Identifier: Apache-2.0
// A client's end of the runner's socket.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "common/contract/frame.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"
#include "runner/control/control_wire.h"

namespace pop::runner {

inline constexpr std::chrono::milliseconds kAnswerTimeout{10000};
inline constexpr const char* kNoAnswer = "the job's runner has not answered in 10 s (is it stopped?)";
/// A runner may not listen yet, or may have closed the connection for another client.
inline constexpr std::chrono::milliseconds kUntilNextConnect{200};

class ControlClient {
 public:
  struct Events {
    std::function<void()> more;  ///< there are new records
    std::function<void()> done;  ///< what was asked for has been passed on; in the order of asking
    std::function<void()> gone;  ///< the connection is closed, as when the runner ends: the last event
  };

  /// `socket` is one of connectToRunner().
  ControlClient(os::EpollLoop& loop, sys::Fd socket, Events events);
  ~ControlClient();
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  /// kStop or kSignal.
  void send(ControlMessage message, int signal);

 private:
  void receive();

  os::EpollLoop& loop_;
  const sys::Fd socket_;
  const Events events_;
  contract::FrameReader reader_{kMaxControlBytes};
};

/// Asks the runner of the job in `directory` once, and waits until that has been passed on. kUnavailable: the
/// runner is gone; kDeadlineExceeded: it has not answered in 10 s.
Status askRunner(const std::string& directory, ControlMessage message, int signal,
                 const std::function<bool()>& lives);

}  // namespace pop::runner
