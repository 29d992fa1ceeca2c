// SPDX-License-Identifier: Apache-2.0
#include "popdistd/agents/remote_agent.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/model/end_times.h"

namespace pop {
namespace {

// Acknowledged in parts: the agent never waits for one while the sink takes all.
constexpr std::int64_t kAcknowledgedBytes = kOutputWindowBytes / 4;

Status silent(std::chrono::milliseconds silence) {
  return unavailable("nothing was heard for " + secondsText(silence) + " s (--host-silence)");
}

// As waitpid says it: a greater code would be another one in ours, and perhaps 0.
bool isPossible(const contract::ExitStatus& status) {
  return status.code >= 0 && status.code <= 255 && status.signal >= 0 && status.signal < NSIG;
}

// The same of all hosts, whichever is looked at first.
Status wereStopped(std::chrono::milliseconds silence) {
  return unavailable("poprun did not run for over " + secondsText(silence) +
                     " s (was it stopped?), and an agent that hears nothing for so long ends its job "
                     "(--host-silence)");
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

// It is of no more use: the agent ends everything when it finds it closed.
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

// From the loop: whoever made the call during which this was found is not ready to hear of it.
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

// An agent that is being reached hears of it once it answers.
bool RemoteAgent::confirmsStop() const {
  return unconfirmed_stops_ == 0 || (link_ == nullptr && open_ == nullptr);
}

// ---- killing: whoever wants the end does not wait for an agent that lives, and reports none

void RemoteAgent::kill() {
  send(KillCommand{});
  if (!lost() && !kill_timeout_) awaitEnds();
}

void RemoteAgent::awaitEnds() {
  was_held_back_ = sink_full_;
  kill_timeout_ = loop_.postAfter(kKillReportTimeout, [this] {
    kill_timeout_.reset();
    if (allClosed()) return;
    if (was_held_back_) return awaitEnds();  // its output could not come: that is not its fault
    breakLink(unavailable("its agent has not reported within " + secondsText(kKillReportTimeout) +
                          " s that the instances there, which it was told to kill, have ended"));
  });
}

void RemoteAgent::cancelKillTimer() {
  if (kill_timeout_) loop_.cancel(*std::exchange(kill_timeout_, std::nullopt));
}

bool RemoteAgent::allClosed() const {
  return std::all_of(instances_.begin(), instances_.end(),
                     [](InstanceState each) { return each == InstanceState::kClosed; });
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
  first_instance_ = slice.instances.empty() ? 0 : slice.instances.front().env.instance_index;
  instances_.assign(slice.instances.size(), InstanceState::kStarting);
  have_aborted_.assign(slice.instances.size(), false);
  cancelKillTimer();
  fences_released_ = 0;
  fence_bytes_.reset();
  crossed_.clear();
  send(RunCommand{std::move(slice)});
}

void RemoteAgent::traceStacks(std::function<void(std::vector<StackTrace>)> reply) {
  trace_reply_ = std::move(reply);
  if (lost()) return tellLossSoon();
  send(TraceStacksCommand{});
}

// ---- reports. What another program says is checked before the job believes it.

bool RemoteAgent::runs(int instance, const char* report) {
  const std::int64_t local = std::int64_t{instance} - first_instance_;
  if (events_ != nullptr && local >= 0 && local < static_cast<std::int64_t>(instances_.size())) return true;
  breakLink(internalError("its agent reports that instance " + std::to_string(instance) + ' ' + report +
                          ", which it was not asked to start"));
  return false;
}

bool RemoteAgent::advance(int instance, InstanceEvent event, const char* report) {
  if (!runs(instance, report)) return false;
  InstanceState& state = instances_[static_cast<std::size_t>(instance - first_instance_)];
  const auto next = step(state, event);
  if (next) {
    state = *next;
    return true;
  }
  breakLink(internalError("its agent reports out of order that instance " + std::to_string(instance) + ' ' +
                          report));
  return false;
}

void RemoteAgent::rejectReport(int instance, const std::string& report) {
  breakLink(internalError("its agent reports that instance " + std::to_string(instance) + ' ' + report +
                          ", which cannot be"));
}

Status RemoteAgent::checkPorts(const std::vector<int>& ports) const {
  if (std::cmp_not_equal(ports.size(), ports_asked_)) {
    return internalError("its agent reports " + counted(static_cast<std::int64_t>(ports.size()), "port") +
                         ", and was asked for " + std::to_string(ports_asked_));
  }
  const auto wrong =
      std::find_if(ports.begin(), ports.end(), [](int port) { return port < 1 || port > 65535; });
  if (wrong == ports.end()) return {};
  return internalError("its agent reports port " + std::to_string(*wrong) + ", which cannot be");
}

void RemoteAgent::handle(DescribedReport& report) {
  if (!describe_reply_) return;
  if (report.status.ok()) {
    if (Status ports = checkPorts(report.facts.ports); !ports.ok()) return breakLink(std::move(ports));
  }
  const auto reply = std::exchange(describe_reply_, nullptr);
  if (!report.status.ok()) return reply(std::move(report.status));
  reply(std::move(report.facts));
}

void RemoteAgent::handle(StartedReport& report) {
  if (!advance(report.instance, InstanceEvent::kStarted, "has started")) return;
  events_->onStarted(report.instance, report.pid);
}

void RemoteAgent::handle(EndedReport& report) {
  const contract::ExitStatus& status = report.end.status;
  if (!isPossible(status)) return rejectReport(report.instance, contract::describe(status));
  if (!advance(report.instance, InstanceEvent::kEnded, "has ended")) return;
  input_read_ = std::clamp<std::int64_t>(report.input_read, input_read_, input_total_);
  events_->onEnded(report.instance, report.end);
}

void RemoteAgent::handle(ClosedReport& report) {
  if (!advance(report.instance, InstanceEvent::kClosed, "is closed")) return;
  events_->onClosed(report.instance);
}

void RemoteAgent::handle(AbortedReport& report) {
  if (!runs(report.instance, "asks to end the job")) return;
  if (report.exit_code < 1 || report.exit_code > 255)
    return rejectReport(report.instance, "asks to end the job with code " + std::to_string(report.exit_code));
  const auto asks = have_aborted_.begin() + (report.instance - first_instance_);
  if (*asks) return;  // once is enough, and what is told of it is kept
  *asks = true;
  events_->onAborted(report.instance, report.exit_code, report.message);
}

void RemoteAgent::handle(FenceReachedReport& report) {
  if (events_ == nullptr) return;
  report.values.merge(crossed_);
  crossed_.clear();
  if (!fence_bytes_.add(report.values))
    return breakLink(internalError("its agent reports more than 128 MiB of values for one fence"));
  if (report.released < 0 || report.released > fences_released_)
    return breakLink(internalError("its agent reports a fence behind one that has not been released"));
  // Instances that had given up waiting are there again, in a fence whose release is on its way to them.
  if (report.released < fences_released_)
    crossed_ = std::move(report.values);
  else
    events_->onFenceReached(std::move(report.values));
}

void RemoteAgent::releaseFence(const SharedPutValues& values) {
  ++fences_released_;
  fence_bytes_.reset();
  send(ReleaseFenceCommand{values});
}

void RemoteAgent::handle(StacksReport& report) {
  if (!trace_reply_) return;
  if (report.traces.size() > instances_.size())
    return breakLink(internalError("its agent reports stacks of more instances than it was asked to start"));
  for (const StackTrace& trace : report.traces) {
    if (!runs(trace.instance, "has a stack")) return;
  }
  const auto reply = std::exchange(trace_reply_, nullptr);
  reply(std::move(report.traces));
}

void RemoteAgent::handle(StoppedReport&) {
  if (unconfirmed_stops_ > 0 && --unconfirmed_stops_ == 0 && on_stop_) on_stop_();
}

void RemoteAgent::handle(OutputReport& report) {
  if (!runs(report.instance, "writes")) return;
  output_taken_ += static_cast<std::int64_t>(report.text.size());
  if (output_taken_ > mostOutput())
    return breakLink(internalError("its agent sends more output than it has been allowed to"));
  if (!sink_.write(report.instance, report.stream, report.text)) sink_full_ = was_held_back_ = true;
  if (output_taken_ >= kAcknowledgedBytes) acknowledgeOutput();
}

// Beyond its window an agent sends what instances leave behind: lines without an end, and what their pipes
// hold.
std::int64_t RemoteAgent::mostOutput() const {
  return kOutputWindowBytes * static_cast<std::int64_t>(1 + instances_.size());
}

// A sink that is full holds the agent back, and that one its instances.
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
