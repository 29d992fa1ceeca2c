// SPDX-License-Identifier: Apache-2.0
#include "controller/hosts/host_conversation.h"

#include <algorithm>
#include <utility>

#include "common/contract/version.h"
#include "common/model/end_times.h"
#include "common/wire/agent_codec.h"
#include "common/wire/stream_call.h"

namespace pop {
namespace {

// An agent that does not understand our hello may report an error in the message after it instead.
Status whyRefused(const Status& why) {
  if (why.code() != Code::kInvalidArgument) return why;
  return {why.code(),
          why.message() + " (a popdist-agent of another version? poprun is " + contract::kVersion + ')'};
}

std::string within(std::chrono::milliseconds time) {
  return " within " + std::to_string(time.count()) + " ms (--connect-timeout)";
}

}  // namespace

HostConversation::HostConversation(os::EpollLoop& loop, const HostAccess& access, std::string name,
                                   wire::v1::Hello hello, ConversationEvents& events,
                                   std::function<void()> over)
    : loop_(loop),
      access_(access),
      name_(std::move(name)),
      events_(events),
      over_(std::move(over)),
      hello_(std::move(hello)) {
  hello_.set_protocol(contract::kAgentProtocol);
  hello_.set_version(contract::kVersion);
  hello_.set_host_name(name_);
}

HostConversation::~HostConversation() {
  cancelLimit();
}

void HostConversation::limit(std::chrono::milliseconds time, std::function<void()> late) {
  cancelLimit();
  limit_ = loop_.postAfter(time, [this, late = std::move(late)] {
    limit_.reset();
    late();
  });
}

void HostConversation::cancelLimit() {
  if (limit_) loop_.cancel(*std::exchange(limit_, std::nullopt));
}

// ---- start

void HostConversation::enter(std::string phase) {
  agent_was_copied_ |= phase == kCopyingPhase;
  phase_ = std::move(phase);
}

void HostConversation::reached(ReachedHost how) {
  if (finished_) return;  // its stream ends with this, and so does its agent
  hello_.set_reached_at(how.peer_address);
  hello_.set_controller_at(how.local_address);
  make_call_ = wire::callOver(loop_, std::move(how.stream));
  events_.reached();
}

void HostConversation::dialled(ServiceLine line) {
  line_ = std::move(line);
  make_call_ = line_->call;
  events_.reached();
}

// An agent that fails as soon as it runs has ended before we hear that it was reached.
void HostConversation::streamEnded(int exit_code) {
  why_broken_ = exit_code == kConnectionLost ? "the connection was closed"
                : exit_code == kKilledBySignal
                    ? "the popdist-agent there was killed"
                    : "the popdist-agent there ended with exit code " + std::to_string(exit_code);
}

void HostConversation::call() {
  phase_ = "waiting for its agent's answer";
  call_ = make_call_({.report = [this](const wire::v1::Report& report) { receive(report); },
                      .ended = [this](const Status& why) { callEnded(why); }});
  limit(access_.connect_timeout, [this] { notAnswered(); });
  wire::v1::Command command;
  *command.mutable_hello() = hello_;
  send(std::move(command));
}

// An agent examines its host before it answers, and so may be waiting for a file system that does not
// respond.
void HostConversation::notAnswered() {
  std::string why = "its agent has not answered" + within(access_.connect_timeout);
  if (!hello_.has_examination()) {
    const Status late{Code::kDeadlineExceeded, std::move(why)};
    return end(late, explained(late));
  }
  why += "; does the working directory, " + hello_.examination().working_directory() + ", answer there?";
  end({Code::kDeadlineExceeded, why}, {Code::kDeadlineExceeded, why});
}

void HostConversation::receive(const wire::v1::Report& report) {
  if (ended_) return;
  if (!welcomed_ && report.has_welcome()) return welcome(report.welcome());
  if (echoes_.left > 0 && report.has_described()) return echoed();
  events_.received(report);
}

void HostConversation::welcome(const wire::v1::Welcome& welcome) {
  if (welcome.protocol() != contract::kAgentProtocol) {
    const Status other =
        failedPrecondition("popdist-agent there is version " + welcome.version() + ", poprun is version " +
                           contract::kVersion + ": install the same version on both");
    return end(other, other);
  }
  welcomed_ = true;
  token_ = welcome.token();
  cancelLimit();
  events_.welcomed(welcome);
}

// ---- echoes

void HostConversation::echo(int times, std::function<void(std::chrono::microseconds fastest)> done) {
  echoes_ = {.left = times, .done = std::move(done)};
  limit(access_.connect_timeout, [this, times] {
    const Status late{Code::kDeadlineExceeded, "its agent answered, but not " + std::to_string(times) +
                                                   " more echo requests" + within(access_.connect_timeout) +
                                                   ": the network or the host is slow"};
    end(late, late);
  });
  sendEcho();
}

void HostConversation::sendEcho() {
  echoes_.sent_at = loop_.now();
  send(wire::encode(NumberedCommand{++echoes_.sent, DescribeCommand{0, model::TopologyDetail::kCpus}}));
}

void HostConversation::echoed() {
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(loop_.now() - echoes_.sent_at);
  echoes_.fastest = std::min(echoes_.fastest, took);
  if (--echoes_.left > 0) return sendEcho();
  cancelLimit();
  echoes_.done(echoes_.fastest);
}

// ---- end

// An agent that has not answered yet has nothing to end.
void HostConversation::finish() {
  finished_ = true;
  if (ended_) return;
  if (!welcomed_) return hangUp();
  phase_ = "waiting for its agent's end";
  call_->close();
  limit(kAgentEndTimeout, [this] {
    end_is_late_ = true;
    leave();
  });
}

// Closes the stream too: an agent that does not answer may still notice that.
void HostConversation::hangUp() {
  ended_ = true;
  leave();
}

void HostConversation::callEnded(const Status& why) {
  if (ended_) return;
  // The other end of our socket is in this process; the program that carries it knows more about the cause.
  const bool broken = why.code() == Code::kUnavailable && !why_broken_.empty();
  const Status how = broken ? unavailable(why_broken_) : why;
  if (!welcomed_ && !how.ok()) return end(how, explained(whyRefused(how)));
  const Status lost = how.ok() ? unavailable("the popdist-agent there has ended") : how;
  if (why.code() != Code::kUnavailable || token_.empty() || !line_) return end(how, lost);
  tellEnd(how, lost);
  endJob();
}

// An agent ends its job when it notices that the stream is lost. Behind an agent service it may take some
// seconds to notice, but the service can tell it.
void HostConversation::endJob() {
  wire::v1::EndJobRequest request;
  request.set_job_id(hello_.job_id());
  request.set_token(token_);
  line_->end_job(std::move(request), [this](const Status&) { leave(); });
}

Status HostConversation::explained(const Status& why) const {
  return access_.service.explain ? access_.service.explain(name_, why) : why;
}

void HostConversation::end(const Status& how, const Status& lost) {
  if (ended_) return;
  tellEnd(how, lost);
  leave();
}

void HostConversation::tellEnd(const Status& how, const Status& lost) {
  ended_ = true;
  if (!std::exchange(end_is_told_, true)) events_.ended(how, lost);
}

// From the loop, because this may run inside an event of the call.
void HostConversation::leave() {
  cancelLimit();
  loop_.post([this] {
    call_.reset();
    make_call_ = nullptr;
    tellEnd({}, unavailable("its link was closed"));
    if (!std::exchange(is_over_, true)) over_();
  });
}

}  // namespace pop
