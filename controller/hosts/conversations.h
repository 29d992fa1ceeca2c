// SPDX-License-Identifier: Apache-2.0
// The conversations with all hosts of a job, or of an examination by doctor: starts their agents, and tells
// the user which hosts it is waiting for.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/hosts/host_conversation.h"

namespace pop {

class Conversations {
 public:
  Conversations(os::EpollLoop& loop, HostAccess access) : loop_(loop), access_(std::move(access)) {}
  ~Conversations() { stopTelling(); }
  Conversations(const Conversations&) = delete;
  Conversations& operator=(const Conversations&) = delete;

  /// Adds the next host. The conversation lives as long as this; `events` must outlive the loop's run.
  HostConversation& add(std::string name, wire::v1::Hello hello, ConversationEvents& events);

  /// Starts on all hosts and returns at once. Call it once.
  void start();

  /// Sends no more commands: calls finish() of each conversation, and abandons hosts that are still being
  /// reached.
  void finish();

  /// Runs the loop until all conversations and all programs that started agents have ended.
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
