// SPDX-License-Identifier: Apache-2.0
// A client's end of the runner's socket.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"
#include "common/wire/message_stream.h"
#include "proto/popdist/v1/host.pb.h"

namespace pop::runner {

inline constexpr std::chrono::milliseconds kAnswerTimeout{10000};
inline constexpr const char* kNoAnswer = "the job's runner has not answered in 10 s (is it stopped?)";
/// A runner may not listen yet, or may have closed the connection for another client.
inline constexpr std::chrono::milliseconds kUntilNextConnect{200};

struct RunnerEvents {
  std::function<void()> more;  ///< there are new records
  std::function<void()> done;  ///< the request has been passed on; in the order of asking
  std::function<void()> gone;  ///< the connection is closed, as when the runner ends: the last event
};

/// Speaks with the runner over `socket`, one of connectToRunner(). Events come on the loop's thread; none of
/// them may destroy the stream.
std::unique_ptr<wire::MessageStream> speakWithRunner(os::EpollLoop& loop, sys::Fd socket,
                                                     RunnerEvents events);

::popdist::v1::RunnerOrder stopOrder(int signal);

/// Asks the runner of the job in `directory` once to stop it, and waits until that has been passed on.
/// kUnavailable: the runner is gone; kDeadlineExceeded: it has not answered in 10 s.
Status stopJob(const std::string& directory, int signal, const std::function<bool()>& lives);

}  // namespace pop::runner
