// SPDX-License-Identifier: Apache-2.0
#include "controller/hosts/remote_agent.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/model/end_times.h"

namespace pop {
namespace {

// Output is acknowledged in parts, so that the agent never waits while the sink accepts everything.
constexpr std::int64_t kAcknowledgedBytes = kOutputWindowBytes / 4;

Status silent(std::chrono::milliseconds silence) {
  return unavailable("nothing was received for " + secondsText(silence) + " s (--host-silence)");
}

Status checkPorts(const std::vector<int>& ports, int asked) {
  if (std::cmp_not_equal(ports.size(), asked)) {
    return internalError("its agent reports " + counted(static_cast<std::int64_t>(ports.size()), "port") +
                         " instead of " + std::to_string(asked));
  }
  const auto wrong =
      std::find_if(ports.begin(), ports.end(), [](int port) { return port < 1 || port > 65535; });
  if (wrong == ports.end()) return {};
  return internalError("its agent reports port " + std::to_string(*wrong) + ", which is impossible");
}

// The same error for all hosts, whichever is checked first.
Status wereStopped(std::chrono::milliseconds silence) {
  return unavailable(
      "poprun did not run for over " + secondsText(silence) +
      " s (was it stopped?); an agent that receives nothing for that long ends its job (--host-silence)");
}

}  // namespace

RemoteAgent::RemoteAgent(Loop& loop, OutputSink& sink, LinkTimes times)
    : loop_(loop),
      sink_(sink),
      times_(times),
      heartbeat_(
          loop, times, [this] { send(HeartbeatCommand{}); }, [this] { breakLink(silent(times_.silence)); }) {
  sink_.setOnReady([this] {
    sink_full_ = false;
    acknowledgeOutput();
  });
}

RemoteAgent::~RemoteAgent() {
  sink_.setOnReady(nullptr);
  if (loss_timer_) loop_.cancel(*loss_timer_);
  cancelKillTimer();
  if (link_ != nullptr) link_->close();
}

// ---- the link

void RemoteAgent::linkOpen(CommandLink& link) {
  if (lost()) return;
  open_ = &link;
  sendWaiting();
}

void RemoteAgent::linkUp(CommandLink& link) {
  open_ = nullptr;
  if (lost()) return link.close();
  POP_CHECK(link_ == nullptr);
  link_ = &link;
  heartbeat_.start();
  sendWaiting();
}

void RemoteAgent::send(AgentCommand command) {
  if (lost()) return;
  waiting_.push_back(std::move(command));
  sendWaiting();
}

void RemoteAgent::sendWaiting() {
  while (!waiting_.empty()) {
    const bool only_asks = std::holds_alternative<DescribeCommand>(waiting_.front());
    CommandLink* const link = link_ == nullptr && only_asks ? open_ : link_;
    if (link == nullptr) return;
    NumberedCommand next{++last_sent_, std::move(waiting_.front())};
    waiting_.pop_front();
    link->send(std::move(next));
  }
}

void RemoteAgent::receive(NumberedReport report) {
  if (lost()) return;
  heartbeat_.heard();
  switch (order_.take(report.number)) {
    case MessageOrder::Verdict::kNext:
      return std::visit([this](auto& each) { handle(each); }, report.report);
    case MessageOrder::Verdict::kDuplicate:
      return;
    case MessageOrder::Verdict::kGap:
      return breakLink(unavailable(order_.gapText(report.number)));
  }
}

// Closes the link: the agent ends the job when it notices.
void RemoteAgent::breakLink(Status why) {
  if (link_ != nullptr) std::exchange(link_, nullptr)->close();
  lose(std::move(why));
}

void RemoteAgent::linkLost(Status why) {
  lose(heartbeat_.quiet() < times_.silence ? std::move(why) : wereStopped(times_.silence));
}

void RemoteAgent::lose(Status why) {
  if (lost()) return;
  POP_CHECK(!why.ok());
  lost_ = std::move(why);
  link_ = nullptr;
  open_ = nullptr;
  heartbeat_.stop();
  cancelKillTimer();
  waiting_.clear();
  output_taken_ = 0;
  input_offered_ = 0;
  tellLossSoon();
}

// Reports it from the loop: the caller during whose call it was found cannot handle it yet.
void RemoteAgent::tellLossSoon() {
  if (loss_timer_) return;
  loss_timer_ = loop_.postAfter(std::chrono::milliseconds(0), [this] {
    loss_timer_.reset();
    tellLoss();
  });
}

void RemoteAgent::tellLoss() {
  if (const auto reply = std::exchange(describe_reply_, nullptr)) reply(lost_);
  if (const auto reply = std::exchange(trace_reply_, nullptr)) reply({});
  if (AgentEvents* const events = std::exchange(events_, nullptr)) events->onLost(lost_);
  if (on_input_ready_) on_input_ready_();
  if (std::exchange(unconfirmed_stops_, 0) > 0 && on_stop_) on_stop_();
}

void RemoteAgent::signal(int signal) {
  send(SignalCommand{signal});
  if (signal == SIGSTOP) {
    ++unconfirmed_stops_;
    told_of_stop_ = true;
  }
  if (signal == SIGCONT && std::exchange(told_of_stop_, false)) heartbeat_.restartSilence();
}

// An agent that is still being reached gets the signal once it answers.
bool RemoteAgent::confirmsStop() const {
  return unconfirmed_stops_ == 0 || (link_ == nullptr && open_ == nullptr);
}

// ---- killing: does not wait forever for an agent that lives but reports no ends

void RemoteAgent::kill() {
  send(KillCommand{});
  if (!lost() && !kill_timeout_) awaitEnds();
}

void RemoteAgent::awaitEnds() {
  was_held_back_ = sink_full_;
  kill_timeout_ = loop_.postAfter(kKillReportTimeout, [this] {
    kill_timeout_.reset();
    if (run_.allAreClosed()) return;
    if (was_held_back_) return awaitEnds();  // its output could not come: that is not its fault
    breakLink(unavailable("its agent has not reported within " + secondsText(kKillReportTimeout) +
                          " s that its instances have ended after it was told to kill them"));
  });
}

void RemoteAgent::cancelKillTimer() {
  if (kill_timeout_) loop_.cancel(*std::exchange(kill_timeout_, std::nullopt));
}

// ---- commands with an answer

void RemoteAgent::describe(int port_count, model::TopologyDetail detail,
                           std::function<void(Result<HostFacts>)> reply) {
  describe_reply_ = std::move(reply);
  ports_asked_ = port_count;
  if (lost()) return tellLossSoon();
  send(DescribeCommand{port_count, detail});
}

void RemoteAgent::run(JobSlice slice, AgentEvents& events) {
  events_ = &events;
  if (lost()) return tellLossSoon();
  run_ = ReportedRun(slice);
  cancelKillTimer();
  send(RunCommand{std::move(slice)});
}

void RemoteAgent::traceStacks(std::function<void(std::vector<StackTrace>)> reply) {
  trace_reply_ = std::move(reply);
  if (lost()) return tellLossSoon();
  send(TraceStacksCommand{});
}

// ---- reports. They are validated before the job acts on them.

// False: the report is impossible, and the link was closed.
bool RemoteAgent::holds(Status report) {
  if (report.ok()) return true;
  breakLink(std::move(report));
  return false;
}

void RemoteAgent::handle(DescribedReport& report) {
  if (!describe_reply_) return;
  if (report.status.ok() && !holds(checkPorts(report.facts.ports, ports_asked_))) return;
  const auto reply = std::exchange(describe_reply_, nullptr);
  if (!report.status.ok()) return reply(std::move(report.status));
  reply(std::move(report.facts));
}

void RemoteAgent::handle(StartedReport& report) {
  if (holds(run_.started(report.instance))) events_->onStarted(report.instance, report.pid);
}

void RemoteAgent::handle(EndedReport& report) {
  if (!holds(run_.ended(report.instance, report.end.status))) return;
  input_read_ = std::clamp<std::int64_t>(report.input_read, input_read_, input_total_);
  events_->onEnded(report.instance, report.end);
}

void RemoteAgent::handle(ClosedReport& report) {
  if (holds(run_.closed(report.instance))) events_->onClosed(report.instance);
}

void RemoteAgent::handle(AbortedReport& report) {
  const Result<bool> is_first = run_.aborted(report.instance, report.exit_code);
  if (!holds(is_first.status()) || !is_first.value()) return;
  events_->onAborted(report.instance, report.exit_code, report.message);
}

void RemoteAgent::handle(FenceReachedReport& report) {
  if (events_ == nullptr) return;
  const FenceId fence = report.fence;
  Result<std::optional<PutValues>> values = run_.fenceReached(std::move(report));
  if (!holds(values.status()) || !*values) return;
  events_->onFenceReached(fence, std::move(**values));
}

void RemoteAgent::releaseFence(FenceId fence, const SharedPutValues& values) {
  run_.fenceReleased(fence);
  send(ReleaseFenceCommand{fence, values});
}

void RemoteAgent::handle(StacksReport& report) {
  if (!trace_reply_ || !holds(run_.stacks(report.traces))) return;
  const auto reply = std::exchange(trace_reply_, nullptr);
  reply(std::move(report.traces));
}

void RemoteAgent::handle(ValuesReport& report) {
  if (events_ == nullptr) return;
  for (const InstanceValue& each : report.values) {
    if (!holds(run_.runs(each.instance, "reports a value"))) return;
  }
  events_->onReported(report.values);
}

void RemoteAgent::handle(StoppedReport&) {
  if (unconfirmed_stops_ > 0 && --unconfirmed_stops_ == 0 && on_stop_) on_stop_();
}

void RemoteAgent::handle(OutputReport& report) {
  if (!holds(run_.runs(report.instance, "writes"))) return;
  output_taken_ += static_cast<std::int64_t>(report.text.size());
  if (output_taken_ > run_.mostOutput())
    return breakLink(internalError("its agent sends more output than its window allows"));
  if (!sink_.write(report.instance, report.stream, report.text)) sink_full_ = was_held_back_ = true;
  if (output_taken_ >= kAcknowledgedBytes) acknowledgeOutput();
}

// A full sink delays the agent, and the agent delays its instances.
void RemoteAgent::acknowledgeOutput() {
  if (sink_full_ || output_taken_ == 0) return;
  send(OutputTakenCommand{std::exchange(output_taken_, 0)});
}

// ---- stdin

std::size_t RemoteAgent::inputRoom() const {
  return static_cast<std::size_t>(kInputWindowBytes - input_offered_);
}

void RemoteAgent::offerInput(std::string bytes) {
  if (lost()) return;
  POP_CHECK(bytes.size() <= inputRoom());
  input_offered_ += static_cast<std::int64_t>(bytes.size());
  input_total_ += static_cast<std::int64_t>(bytes.size());
  send(InputCommand{std::move(bytes)});
}

void RemoteAgent::handle(InputTakenReport& report) {
  input_offered_ -= std::clamp<std::int64_t>(report.bytes, 0, input_offered_);
  if (on_input_ready_) on_input_ready_();
}

void RemoteAgent::handle(InputUnreadReport&) {
  if (on_input_unread_) on_input_unread_();
}

}  // namespace pop
