// SPDX-License-Identifier: Apache-2.0
#include "agent/core/agent_session.h"

#include <algorithm>
#include <csignal>
#include <utility>
#include <variant>

#include "common/base/check.h"

namespace pop::agent {

AgentSession::AgentSession(Loop& loop, ReportLink& link, InputSink& input, Over over, LinkTimes times)
    : loop_(loop),
      link_(link),
      input_(input),
      over_(std::move(over)),
      heartbeat_(
          loop, times, [this] { send(HeartbeatReport{}); },
          [this] { end(unavailable("the controller has gone silent")); }) {
  input_.setOnTaken([this](std::int64_t bytes) { send(InputTakenReport{bytes}); });
}

AgentSession::~AgentSession() {
  input_.setOnTaken(nullptr);
  if (over_timer_) loop_.cancel(*over_timer_);
}

void AgentSession::serve(Agent& agent) {
  agent_ = &agent;
  heartbeat_.start();
}

void AgentSession::receive(NumberedCommand command) {
  if (ended_) return;
  switch (order_.take(command.number)) {
    case MessageOrder::Verdict::kNext:
      heartbeat_.heard();
      return std::visit([this](auto& each) { handle(each); }, command.command);
    case MessageOrder::Verdict::kDuplicate:
      return;
    case MessageOrder::Verdict::kGap:
      return end(unavailable(order_.gapText(command.number)));
  }
}

void AgentSession::linkLost(Status why) {
  end(why);
}

// The controller is gone and can no longer end the grace period: SIGKILL at once.
void AgentSession::end(const Status& why) {
  if (ended_) return;
  ended_ = true;
  heartbeat_.stop();
  link_.close();
  agent_->kill();
  over_timer_ = loop_.postAfter(std::chrono::milliseconds(0), [this, why] {
    over_timer_.reset();
    over_(why);
  });
}

void AgentSession::send(AgentReport report) {
  if (!ended_) link_.send({++last_sent_, std::move(report)});
}

// ---- commands

void AgentSession::handle(DescribeCommand& command) {
  agent_->describe(command.port_count, command.detail, [this](Result<HostFacts> facts) {
    DescribedReport report{.status = facts.status()};
    if (facts.ok()) report.facts = std::move(*facts);
    send(std::move(report));
  });
}

void AgentSession::handle(RunCommand& command) {
  releases_ = {};
  agent_->run(std::move(command.slice), *this);
}

// The launcher stops its instances just before it is stopped itself, so its silence means nothing until it
// continues them. This side keeps sending occasional heartbeats, so that a broken link is still noticed.
void AgentSession::handle(SignalCommand& command) {
  agent_->signal(command.signal);
  if (command.signal == SIGCONT) heartbeat_.expectSigns();
  if (command.signal != SIGSTOP) return;
  heartbeat_.expectSilence();
  send(StoppedReport{});  // the controller waits for this: messages sent at the moment of its own stop may be
                          // delayed
}

void AgentSession::handle(TraceStacksCommand&) {
  agent_->traceStacks([this](std::vector<StackTrace> traces) { send(StacksReport{std::move(traces)}); });
}

void AgentSession::handle(ReleaseFenceCommand& command) {
  ++releases_.at(static_cast<std::size_t>(command.fence));
  agent_->releaseFence(command.fence, command.values);
}

void AgentSession::handle(InputCommand& command) {
  if (command.bytes.empty()) return input_.end();
  input_.write(std::move(command.bytes));
}

// ---- output

bool AgentSession::write(int instance, Stream stream, std::string_view text) {
  if (ended_) return true;  // unread output must not delay the end
  output_on_its_way_ += static_cast<std::int64_t>(text.size());
  send(OutputReport{instance, stream, std::string(text)});
  return output_on_its_way_ < kOutputWindowBytes;
}

void AgentSession::handle(OutputTakenCommand& command) {
  const bool was_full = output_on_its_way_ >= kOutputWindowBytes;
  output_on_its_way_ -= std::clamp<std::int64_t>(command.bytes, 0, output_on_its_way_);
  if (was_full && output_on_its_way_ < kOutputWindowBytes && on_ready_) on_ready_();
}

}  // namespace pop::agent
