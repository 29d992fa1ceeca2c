// SPDX-License-Identifier: Apache-2.0
// The conversation with one host's agent, of a job or of an examination: hello, the agent's answer, and how
// it ends, each with its time limit.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/os/epoll_loop.h"
#include "common/wire/agent_call.h"
#include "popdistd/agents/host_access.h"

namespace pop {

/// What comes of one host, in this order.
class ConversationEvents {
 public:
  virtual ~ConversationEvents() = default;
  virtual void reached() = 0;  ///< its agent runs, or its agent service is known: call()
  virtual void welcomed(const wire::v1::Welcome& welcome) = 0;
  virtual void received(const wire::v1::Report&) {}
  /// Once: no report comes any more. `how`: as the other side has put it, or why there is no other side; OK:
  /// it has ended as it should, or was hung up on. `lost`: the same for people, never OK.
  virtual void ended(const Status& how, const Status& lost) = 0;

  virtual bool isAwaited() const { return true; }  ///< for people, until it is over
};

class HostConversation {
 public:
  /// All references outlive this. `hello` is completed here by what is known of the host. `over`: once, from
  /// the loop, nothing is left of the conversation, not even the stream.
  HostConversation(os::EpollLoop& loop, const HostAccess& access, std::string name, wire::v1::Hello hello,
                   ConversationEvents& events, std::function<void()> over);
  ~HostConversation();
  HostConversation(const HostConversation&) = delete;
  HostConversation& operator=(const HostConversation&) = delete;

  // ---- what becomes of starting its agent

  void enter(std::string phase);
  void reached(ReachedHost how);
  void dialled(ServiceLine line);
  void failed(const Status& why) { end(why, why); }  ///< also where somebody finds out later
  /// The agent, or what carries the stream, of which more is known than that it was closed.
  void streamEnded(int exit_code);

  // ---- the conversation

  void call();  ///< says hello; connect_timeout for the answer
  void send(wire::v1::Command command) { call_->send(std::move(command)); }

  /// Asks the agent `times` times what costs it least, within connect_timeout; `done`: the fastest answer.
  /// For a conversation that has no other commands.
  void echo(int times, std::function<void(std::chrono::microseconds fastest)> done);

  /// No more commands: the agent ends when it is done, for which it has kAgentEndTimeout.
  void finish();
  void hangUp();  ///< what still comes is of no interest

  const std::string& name() const { return name_; }
  const std::string& phase() const { return phase_; }  ///< "ssh key exchange", for who waits
  const std::string& peerAddress() const { return hello_.reached_at(); }
  bool agentWasCopied() const { return agent_was_copied_; }
  /// To its agent service, if that is the way.
  const std::optional<ServiceLine>& line() const { return line_; }
  bool isCalling() const { return call_ != nullptr; }
  bool isOver() const { return is_over_; }
  bool isAwaited() const { return !is_over_ && events_.isAwaited(); }
  bool endIsLate() const { return end_is_late_; }  ///< finish() has waited in vain

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
  std::string why_broken_;  ///< the stream; empty: it is not
  std::optional<ServiceLine> line_;
  wire::CallMaker make_call_;
  std::unique_ptr<wire::AgentCall> call_;
  std::optional<TimerId> limit_;
  std::string token_;  ///< of the agent service
  Echoes echoes_;
  bool agent_was_copied_ = false;
  bool welcomed_ = false;
  bool ended_ = false;  ///< what still comes is dropped
  bool end_is_told_ = false;
  bool finished_ = false;
  bool end_is_late_ = false;
  bool is_over_ = false;
};

}  // namespace pop
