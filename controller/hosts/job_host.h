// SPDX-License-Identifier: Apache-2.0
// One host of a job: its agent as the job sees it, and the conversation that carries its commands and
// reports.
#pragma once

#include <string>
#include <utility>

#include "common/wire/agent_codec.h"
#include "controller/hosts/conversations.h"
#include "controller/hosts/remote_agent.h"

namespace pop {

class JobHost final : private ConversationEvents, private CommandLink {
 public:
  /// Everything passed by reference outlives this.
  JobHost(os::EpollLoop& loop, Conversations& conversations, std::string name, wire::v1::Hello hello,
          OutputSink& sink, LinkTimes times)
      : conversation_(conversations.add(std::move(name), std::move(hello), *this)),
        agent_(loop, sink, times) {}

  RemoteAgent& agent() { return agent_; }
  const std::string& name() const { return conversation_.name(); }

  /// Call it before Conversations::finish().
  void expectEnd() {
    asked_to_end_ = conversation_.isCalling() && !agent_.lost();
    agent_.expectEnd();
  }
  bool endIsLate() const { return asked_to_end_ && conversation_.endIsLate(); }
  /// The final status from an agent that was expected to end; OK if none was expected.
  const Status& end() const { return end_; }

 private:
  void reached() override {
    conversation_.call();
    agent_.linkOpen(*this);
  }
  void welcomed(const wire::v1::Welcome&) override { agent_.linkUp(*this); }
  void received(const wire::v1::Report& report) override {
    NumberedReport decoded;
    const Status status = wire::decode(report, decoded);
    if (status.ok()) return agent_.receive(std::move(decoded));
    agent_.linkLost(status);
    conversation_.hangUp();
  }
  void ended(const Status& how, const Status& lost) override {
    if (asked_to_end_) end_ = how;
    agent_.linkLost(lost);
  }
  bool isAwaited() const override { return agent_.isAwaited(); }

  void send(NumberedCommand command) override { conversation_.send(wire::encode(command)); }
  void close() override { conversation_.hangUp(); }

  HostConversation& conversation_;
  RemoteAgent agent_;
  bool asked_to_end_ = false;
  Status end_;
};

}  // namespace pop
