// SPDX-License-Identifier: Apache-2.0
// An agent on another host. Calls of the agent port go over a link as numbered commands; numbered reports
// come back as the port's events. If the link is lost, the agent is lost.
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
#include "controller/hosts/reported_run.h"

namespace pop {

/// The link to one agent. Incoming reports go to RemoteAgent::receive, the end of the link to linkLost.
class CommandLink {
 public:
  virtual ~CommandLink() = default;
  virtual void send(NumberedCommand command) = 0;  ///< Sends in order; queues what cannot be sent at once.
  virtual void close() = 0;                        ///< Sends nothing more, and drops further input.
};

class RemoteAgent final : public Agent {
 public:
  /// `loop` and `sink` outlive the agent.
  RemoteAgent(Loop& loop, OutputSink& sink, LinkTimes times = {});
  ~RemoteAgent() override;  ///< Closes the link, which ends the agent's job.
  RemoteAgent(const RemoteAgent&) = delete;
  RemoteAgent& operator=(const RemoteAgent&) = delete;

  // ---- the link. Commands are queued until it is up; from then on the agent must send heartbeats. Queries
  // are sent as soon as the link is open, before the agent's first answer, to save a round trip.

  void linkOpen(CommandLink& link);  ///< `link` lives until it is closed, or the agent is lost. At most once.
  void linkUp(CommandLink& link);    ///< `link` lives until it is closed. Once.
  void receive(NumberedReport report);
  void linkLost(
      Status why);  ///< The link ended by itself, or never came up. The resulting events come from the loop.
  /// The agent was told to end: it is silent until then, so heartbeats are no longer expected. The caller
  /// sets its own time limit.
  void expectEnd() { heartbeat_.stop(); }
  bool isUp() const { return link_ != nullptr; }
  /// The link is not up yet, or the agent has not described its host.
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
  void releaseFence(FenceId fence, const SharedPutValues& values) override;
  void announce(const SharedEndNotices& end_notices) override { send(AnnounceCommand{end_notices}); }

  // ---- SIGSTOP: before poprun stops itself, it waits until the agents have confirmed

  bool confirmsStop() const;  ///< Every request was confirmed, none was made, or there is no link.
  void setOnStopConfirmed(std::function<void()> on_confirmed) { on_stop_ = std::move(on_confirmed); }

  // ---- stdin of the instances

  /// The number of bytes that may be offered now. A lost agent accepts and drops everything.
  std::size_t inputRoom() const;
  void offerInput(std::string bytes);  ///< At most inputRoom() bytes; empty: end of input.
  /// Number of offered bytes that the instances have read; the agent reports it when an instance ends.
  std::int64_t inputRead() const { return input_read_; }
  /// Called when there is more room, and when the agent is lost.
  void setOnInputReady(std::function<void()> on_ready) { on_input_ready_ = std::move(on_ready); }
  /// Called when no instance on this host reads stdin any more in this run.
  void setOnInputUnread(std::function<void()> on_unread) { on_input_unread_ = std::move(on_unread); }

 private:
  void send(AgentCommand command);
  void sendWaiting();
  void breakLink(Status why);
  void lose(Status why);
  void tellLoss();
  void tellLossSoon();

  // One handler for each report.
  void handle(DescribedReport& report);
  void handle(StartedReport& report);
  void handle(EndedReport& report);
  void handle(ClosedReport& report);
  void handle(AbortedReport& report);
  void handle(FenceReachedReport& report);
  void handle(StacksReport& report);
  void handle(ValuesReport& report);
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
  CommandLink* link_ = nullptr;  ///< null: the link is not up yet, or closed
  CommandLink* open_ = nullptr;  ///< open, but not up
  Status lost_;
  std::optional<TimerId> loss_timer_;
  std::deque<AgentCommand> waiting_;  ///< commands queued for the link
  std::uint64_t last_sent_ = 0;
  MessageOrder order_;
  Heartbeat heartbeat_;

  std::function<void(Result<HostFacts>)> describe_reply_;
  int ports_asked_ = 0;
  std::function<void(std::vector<StackTrace>)> trace_reply_;
  AgentEvents* events_ = nullptr;
  ReportedRun run_;
  std::optional<TimerId> kill_timeout_;  ///< started by the order to kill the instances

  int unconfirmed_stops_ = 0;
  bool told_of_stop_ = false;  ///< a stop was sent, but no continue
  std::function<void()> on_stop_;

  std::int64_t output_taken_ = 0;  ///< bytes not acknowledged yet
  bool sink_full_ = false;
  bool was_held_back_ = false;      ///< the sink was full at some time since kill_timeout_ started
  std::int64_t input_offered_ = 0;  ///< bytes not taken yet
  std::int64_t input_total_ = 0;    ///< bytes offered in total
  std::int64_t input_read_ = 0;
  std::function<void()> on_input_ready_;
  std::function<void()> on_input_unread_;
};

}  // namespace pop
