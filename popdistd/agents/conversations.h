// SPDX-License-Identifier: Apache-2.0
// The conversations with all hosts of a job, or of an examination: gets their agents started, and says for
// which of them it waits.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "popdistd/agents/host_conversation.h"

namespace pop {

class Conversations {
 public:
  Conversations(os::EpollLoop& loop, HostAccess access) : loop_(loop), access_(std::move(access)) {}
  ~Conversations() { stopTelling(); }
  Conversations(const Conversations&) = delete;
  Conversations& operator=(const Conversations&) = delete;

  /// The next host. The conversation lives as long as this; `events` as long as the loop runs.
  HostConversation& add(std::string name, wire::v1::Hello hello, ConversationEvents& events);

  /// Begins with all hosts; returns at once. Once.
  void start();

  /// No more commands to anyone: calls finish() of each, and lets go of those that are being reached.
  void finish();

  /// Runs the loop until nothing is left of any conversation, nor of what has started agents.
  void runToEnd();

  const HostAccess& access() const { return access_; }

 private:
  BootstrapEvents eventsFor(const std::vector<int>& hosts);
  void sayWhoIsWaitedFor();
  void stopTelling();

  void stopWhenOver();

  os::EpollLoop& loop_;
  HostAccess access_;
  std::vector<std::unique_ptr<HostConversation>> hosts_;
  std::optional<TimerId> notice_;
  bool runs_to_end_ = false;
};

}  // namespace pop
