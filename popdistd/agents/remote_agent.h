// SPDX-License-Identifier: Apache-2.0
// An agent on another host: calls of the agent port go over a link as numbered commands, numbered reports
// come back as the port's events. When the link is lost, so is the agent.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/heartbeat.h"
#include "common/base/loop.h"
#include "common/ports/agent_messages.h"
#include "common/ports/agent_port.h"
#include "common/ports/message_order.h"
#include "popdistd/agents/reported_run.h"

namespace pop {

/// The way to one agent. What comes back over it is given to RemoteAgent::receive, its end to linkLost.
class CommandLink {
 public:
  virtual ~CommandLink() = default;
  virtual void send(NumberedCommand command) = 0;  ///< In order; keeps what cannot be sent at once.
  virtual void close() = 0;                        ///< Nothing more will be sent, nor looked at.
};

class RemoteAgent final : public Agent {
 public:
  /// `loop` and `sink` outlive the agent.
  RemoteAgent(Loop& loop, OutputSink& sink, LinkTimes times = {});
  ~RemoteAgent() override;  ///< Closes the link, and so ends the agent's job.
  RemoteAgent(const RemoteAgent&) = delete;
  RemoteAgent& operator=(const RemoteAgent&) = delete;

  // ---- the link. Until it is up, commands wait; from then on the other side must show signs of life. Once
  // it is open, though nobody has answered yet, what only asks goes: the answer to it is soon here, too.

  void linkOpen(CommandLink& link);  ///< `link` lives until it is closed, or the agent is lost. At most once.
  void linkUp(CommandLink& link);    ///< `link` lives until it is closed. Once.
  void receive(NumberedReport report);
  void linkLost(
      Status why);  ///< By itself; also when it never came up. What follows from it comes from the loop.
  /// The agent was told to end: it says nothing until it has, and who waits for that has a timeout of his
  /// own.
  void expectEnd() { heartbeat_.stop(); }
  bool isUp() const { return link_ != nullptr; }
  /// It is not up yet, or has not said what its host is like.
  bool isAwaited() const { return !lost() && (!isUp() || describe_reply_); }
  bool lost() const { return !lost_.ok(); }

  // ---- the agent port

  void describe(int port_count, model::TopologyDetail detail,
                std::function<void(Result<HostFacts>)> reply) override;
  void run(JobSlice slice, AgentEvents& events) override;
  void signal(int signal) override;
  void traceStacks(std::function<void(std::vector<StackTrace>)> reply) override;
  void stop() override { send(StopCommand{}); }
  void kill() override;
  void releaseFence(const SharedPutValues& values) override;
  void announce(const SharedEndNotices& end_notices) override { send(AnnounceCommand{end_notices}); }

  // ---- SIGSTOP: only what the agent has confirmed is sure to have reached it before we stop ourselves

  bool confirmsStop() const;  ///< Each; or none was asked for, or there is no link to it.
  void setOnStopConfirmed(std::function<void()> on_confirmed) { on_stop_ = std::move(on_confirmed); }

  // ---- what the instances read on stdin

  /// So many bytes may be offered now. A lost agent takes, and drops, everything.
  std::size_t inputRoom() const;
  void offerInput(std::string bytes);  ///< At most inputRoom() bytes; none: the end.
  /// Bytes that instances have read, of all that was offered, as far as the agent has said: when one ended.
  std::int64_t inputRead() const { return input_read_; }
  /// Called when there is more room, and when the agent is lost.
  void setOnInputReady(std::function<void()> on_ready) { on_input_ready_ = std::move(on_ready); }
  /// Called when no instance there reads any more before the next run.
  void setOnInputUnread(std::function<void()> on_unread) { on_input_unread_ = std::move(on_unread); }

 private:
  void send(AgentCommand command);
  void sendWaiting();
  void breakLink(Status why);
  void lose(Status why);
  void tellLoss();
  void tellLossSoon();

  // One for each report.
  void handle(DescribedReport& report);
  void handle(StartedReport& report);
  void handle(EndedReport& report);
  void handle(ClosedReport& report);
  void handle(AbortedReport& report);
  void handle(FenceReachedReport& report);
  void handle(StacksReport& report);
  void handle(OutputReport& report);
  void handle(InputTakenReport& report);
  void handle(InputUnreadReport&);
  void handle(StoppedReport&);
  void handle(HeartbeatReport&) {}

  void awaitEnds();
  void cancelKillTimer();
  bool holds(Status report);
  void acknowledgeOutput();

  Loop& loop_;
  OutputSink& sink_;
  const LinkTimes times_;
  CommandLink* link_ = nullptr;  ///< null: not up yet, or closed
  CommandLink* open_ = nullptr;  ///< while it is not up
  Status lost_;
  std::optional<TimerId> loss_timer_;
  std::deque<AgentCommand> waiting_;  ///< for the link
  std::uint64_t last_sent_ = 0;
  MessageOrder order_;
  Heartbeat heartbeat_;

  std::function<void(Result<HostFacts>)> describe_reply_;
  int ports_asked_ = 0;
  std::function<void(std::vector<StackTrace>)> trace_reply_;
  AgentEvents* events_ = nullptr;
  ReportedRun run_;
  std::optional<TimerId> kill_timeout_;  ///< runs from the order to kill them on

  int unconfirmed_stops_ = 0;
  bool told_of_stop_ = false;  ///< and not of its end
  std::function<void()> on_stop_;

  std::int64_t output_taken_ = 0;  ///< and not acknowledged yet
  bool sink_full_ = false;
  bool was_held_back_ = false;      ///< by a full sink, since kill_timeout_ has begun
  std::int64_t input_offered_ = 0;  ///< and not taken yet
  std::int64_t input_total_ = 0;    ///< ever offered
  std::int64_t input_read_ = 0;
  std::function<void()> on_input_ready_;
  std::function<void()> on_input_unread_;
};

}  // namespace pop
