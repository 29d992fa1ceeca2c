// SPDX-License-Identifier: Apache-2.0
// The agent's end of the link to a controller: turns numbered commands into calls of the agent port, and its
// events and the instances' output into numbered reports. The job depends on the link: when the link is lost,
// or the controller falls silent, everything is killed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/heartbeat.h"
#include "common/base/loop.h"
#include "common/ports/agent_messages.h"
#include "common/ports/agent_port.h"
#include "common/ports/message_order.h"

namespace pop::agent {

/// The way back to the controller. Messages from it are passed to AgentSession::receive, the end of the link
/// to linkLost.
class ReportLink {
 public:
  virtual ~ReportLink() = default;
  virtual void send(NumberedReport report) = 0;  ///< In order; queues what cannot be sent at once.
  virtual void close() = 0;                      ///< No more sending or receiving.
};

/// Takes the input for the instances' stdin.
class InputSink {
 public:
  virtual ~InputSink() = default;

  /// Takes all of `bytes`. At most kInputWindowBytes are unacknowledged at any time.
  virtual void write(std::string bytes) = 0;
  virtual void end() = 0;
  virtual std::int64_t read() const = 0;  ///< Bytes that instances have read, or that were dropped.
  virtual void setOnTaken(std::function<void(std::int64_t bytes)> on_taken) = 0;
};

class AgentSession final : public OutputSink, private AgentEvents {
 public:
  using Over = std::function<void(const Status& why)>;

  /// Everything passed by reference outlives the session. `over` is called once, from the loop, when the link
  /// is lost and the agent has been asked to kill everything; the agent's owner then shuts it down.
  AgentSession(Loop& loop, ReportLink& link, InputSink& input, Over over, LinkTimes times = {});
  ~AgentSession() override;
  AgentSession(const AgentSession&) = delete;
  AgentSession& operator=(const AgentSession&) = delete;

  /// Starts the session; call it before the first receive(). `agent` has this session as the sink of its
  /// output.
  void serve(Agent& agent);

  void receive(NumberedCommand command);
  void linkLost(Status why);

  /// No instance reads stdin any more, though the run goes on.
  void inputUnread() { send(InputUnreadReport{}); }

  // Output of the instances. False when the controller's window of unread output is full.
  bool write(int instance, Stream stream, std::string_view text) override;
  void setOnReady(std::function<void()> on_ready) override { on_ready_ = std::move(on_ready); }

 private:
  void onStarted(int instance, pid_t pid) override { send(StartedReport{instance, pid}); }
  void onEnded(int instance, const InstanceEnd& end) override {
    send(EndedReport{instance, end, input_.read()});
  }
  void onClosed(int instance) override { send(ClosedReport{instance}); }
  void onAborted(int instance, int exit_code, const std::string& message) override {
    send(AbortedReport{instance, exit_code, message});
  }
  void onFenceReached(FenceId fence, PutValues values) override {
    send(FenceReachedReport{fence, std::move(values), releases_.at(static_cast<std::size_t>(fence))});
  }
  void onReported(const std::vector<InstanceValue>& values) override { send(ValuesReport{values}); }
  void onLost(const Status& why) override { end(why); }

  // One handler for each command.
  void handle(DescribeCommand& command);
  void handle(RunCommand& command);
  void handle(SignalCommand& command);
  void handle(TraceStacksCommand&);
  void handle(StopCommand&) { agent_->stop(); }
  void handle(KillCommand&) { agent_->kill(); }
  void handle(ReleaseFenceCommand& command);
  void handle(AnnounceCommand& command) { agent_->announce(command.end_notices); }
  void handle(InputCommand& command);
  void handle(OutputTakenCommand& command);
  void handle(HeartbeatCommand&) {}

  void send(AgentReport report);
  void end(const Status& why);

  Loop& loop_;
  ReportLink& link_;
  InputSink& input_;
  const Over over_;
  Agent* agent_ = nullptr;
  bool ended_ = false;
  std::optional<TimerId> over_timer_;
  std::uint64_t last_sent_ = 0;
  MessageOrder order_;
  Heartbeat heartbeat_;
  std::array<std::int64_t, kNumFences> releases_{};  ///< of each fence, in this run
  std::int64_t output_on_its_way_ = 0;
  std::function<void()> on_ready_;
};

}  // namespace pop::agent
