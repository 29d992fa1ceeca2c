// SPDX-License-Identifier: Apache-2.0
// The conversation with one host's agent, for a job or for an examination by doctor: hello, the agent's
// answer, and the end, each with a time limit.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/os/epoll_loop.h"
#include "common/wire/agent_call.h"
#include "controller/hosts/host_access.h"

namespace pop {

/// The events of one host, in this order.
class ConversationEvents {
 public:
  virtual ~ConversationEvents() = default;
  virtual void reached() = 0;  ///< its agent runs, or its agent service is known; answer with call()
  virtual void welcomed(const wire::v1::Welcome& welcome) = 0;
  virtual void received(const wire::v1::Report&) {}
  /// Called once; no report follows. `how`: the agent's own account, or why there is no agent; OK: it ended
  /// as expected, or we hung up. `lost`: the same for the user, never OK.
  virtual void ended(const Status& how, const Status& lost) = 0;

  virtual bool isAwaited() const { return true; }  ///< true: the user is told that we wait for this host
};

class HostConversation {
 public:
  /// All references must outlive this. The conversation adds what it knows of the host to `hello`. The loop
  /// calls `over` once, when the conversation and its stream are gone.
  HostConversation(os::EpollLoop& loop, const HostAccess& access, std::string name, wire::v1::Hello hello,
                   ConversationEvents& events, std::function<void()> over);
  ~HostConversation();
  HostConversation(const HostConversation&) = delete;
  HostConversation& operator=(const HostConversation&) = delete;

  // ---- results of starting the agent

  void enter(std::string phase);
  void reached(ReachedHost how);
  void dialled(ServiceLine line);
  void failed(const Status& why) { end(why, why); }  ///< also when the failure is found later
  /// The agent, or the program that carries the stream, has ended with a known exit code.
  void streamEnded(int exit_code);

  // ---- the conversation

  void call();  ///< sends hello and waits for the answer, at most connect_timeout
  void send(wire::v1::Command command) { call_->send(std::move(command)); }

  /// Sends `times` echo requests, one after the other, within connect_timeout; `done` gets the fastest round
  /// trip. Only for a conversation without other commands.
  void echo(int times, std::function<void(std::chrono::microseconds fastest)> done);

  /// Sends no more commands. The agent then ends by itself, within kAgentEndTimeout.
  void finish();
  void hangUp();  ///< ends the conversation; later input is dropped

  const std::string& name() const { return name_; }
  const std::string& phase() const { return phase_; }  ///< such as "ssh key exchange"
  const std::string& peerAddress() const { return hello_.reached_at(); }
  bool agentWasCopied() const { return agent_was_copied_; }
  /// The call to its agent service, if it is reached by that.
  const std::optional<ServiceLine>& line() const { return line_; }
  bool isCalling() const { return call_ != nullptr; }
  bool isOver() const { return is_over_; }
  bool isAwaited() const { return !is_over_ && events_.isAwaited(); }
  bool endIsLate() const { return end_is_late_; }  ///< the time limit of finish() has expired

 private:
  void limit(std::chrono::milliseconds time, std::function<void()> late);
  void cancelLimit();
  void receive(const wire::v1::Report& report);
  void welcome(const wire::v1::Welcome& welcome);
  void sendEcho();
  void echoed();
  void callEnded(const Status& why);
  void endJob();
  void notAnswered();
  Status explained(const Status& why) const;
  void end(const Status& how, const Status& lost);
  void tellEnd(const Status& how, const Status& lost);
  void leave();

  struct Echoes {
    int left = 0;
    std::uint64_t sent = 0;
    Clock::time_point sent_at;
    std::chrono::microseconds fastest = std::chrono::microseconds::max();
    std::function<void(std::chrono::microseconds)> done;
  };

  os::EpollLoop& loop_;
  const HostAccess& access_;
  const std::string name_;
  ConversationEvents& events_;
  const std::function<void()> over_;
  wire::v1::Hello hello_;
  std::string phase_ = "waiting for its turn";
  std::string why_broken_;  ///< why the stream broke; empty: it has not
  std::optional<ServiceLine> line_;
  wire::CallMaker make_call_;
  std::unique_ptr<wire::AgentCall> call_;
  std::optional<TimerId> limit_;
  std::string token_;  ///< from the agent service
  Echoes echoes_;
  bool agent_was_copied_ = false;
  bool welcomed_ = false;
  bool ended_ = false;  ///< later input is dropped
  bool end_is_told_ = false;
  bool finished_ = false;
  bool end_is_late_ = false;
  bool is_over_ = false;
};

}  // namespace pop
