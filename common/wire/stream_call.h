// SPDX-License-Identifier: Apache-2.0
// Both ends of a call over a stream of its own: docs/adr/0014. Only programs of one version use it; the
// stream's creator has authenticated the peer.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "common/os/epoll_loop.h"
#include "common/wire/agent_call.h"
#include "common/wire/command_inbox.h"
#include "common/wire/message_stream.h"

namespace pop::wire {

/// Over a connected, non-blocking, dedicated socket. Malformed bytes break the call, too.
class StreamAgentCall final : public AgentCall {
 public:
  StreamAgentCall(os::EpollLoop& loop, sys::Fd stream, Events events);

  void send(v1::Command command) override { stream_.send(command); }
  void close() override { stream_.end({}); }

 private:
  void receive(const std::string& message);
  void end(const Status& how);

  const Events events_;
  bool over_ = false;
  MessageStream stream_;
};

/// Makes one such call; call it once.
CallMaker callOver(os::EpollLoop& loop, sys::Fd stream);

/// `in` and `out`: see MessageStream.
class StreamRunCall final : public RunCall {
 public:
  StreamRunCall(os::EpollLoop& loop, sys::Fd in, sys::Fd out);

  void listen(Events events) override { inbox_.listen(std::move(events)); }
  void send(v1::Report report) override { stream_.send(report); }
  void finish(Status status) override { stream_.end(status); }

  /// Waits until everything is sent, for at most `timeout`.
  void flush(std::chrono::milliseconds timeout) { stream_.flush(timeout); }

 private:
  void receive(const std::string& message);

  CommandInbox inbox_;
  MessageStream stream_;
};

}  // namespace pop::wire
