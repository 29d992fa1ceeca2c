// SPDX-License-Identifier: Apache-2.0
#include "popdistd/agents/host_link.h"

#include <utility>

#include "common/contract/version.h"
#include "common/wire/agent_codec.h"
#include "popdistd/agents/bootstrapper.h"

namespace pop {
namespace {

// One that does not understand our hello may complain of what has come right behind it instead.
Status whyRefused(const Status& why) {
  if (why.code() != Code::kInvalidArgument) return why;
  return {why.code(),
          why.message() + " (a popdist-agent of another version? poprun is " + contract::kVersion + ')'};
}

}  // namespace

Status checkWelcome(const wire::v1::Welcome& welcome) {
  if (welcome.protocol() == contract::kAgentProtocol) return {};
  return failedPrecondition("popdist-agent there is version " + welcome.version() + ", poprun is version " +
                            contract::kVersion + ": install the same version on both");
}

Status noWelcome(std::chrono::milliseconds timeout) {
  return {Code::kDeadlineExceeded,
          "its agent has not answered within " + std::to_string(timeout.count()) + " ms (--connect-timeout)"};
}

std::string whyStreamEnded(int exit_code) {
  if (exit_code == kConnectionLost) return "the connection was closed";
  if (exit_code == kKilledBySignal) return "the popdist-agent there was killed";
  return "the popdist-agent there ended with exit code " + std::to_string(exit_code);
}

HostLink::HostLink(Loop& loop, const wire::CallMaker& call, RemoteAgent& agent, std::function<void()> over)
    : loop_(loop),
      agent_(agent),
      over_(std::move(over)),
      call_(call({.report = [this](const wire::v1::Report& report) { receive(report); },
                  .ended = [this](const Status& why) { ended(why); }})) {}

HostLink::~HostLink() {
  if (timeout_) loop_.cancel(*timeout_);
}

void HostLink::hello(wire::v1::Hello hello, std::chrono::milliseconds timeout) {
  timeout_ = loop_.postAfter(timeout, [this, timeout] {
    timeout_.reset();
    failToComeUp(noWelcome(timeout));
    close();
  });
  job_id_ = hello.job_id();
  hello.set_protocol(contract::kAgentProtocol);
  hello.set_version(contract::kVersion);
  wire::v1::Command command;
  *command.mutable_hello() = std::move(hello);
  call_->send(std::move(command));
  agent_.linkOpen(*this);
}

void HostLink::send(NumberedCommand command) {
  call_->send(wire::encode(command));
}

// An agent that has not answered yet has nothing to end.
void HostLink::finish() {
  if (!welcomed_) return close();
  agent_.expectEnd();
  call_->close();
}

// What still comes from there is of no interest. The stream goes as well: it is all that somebody who does
// not answer may notice.
void HostLink::close() {
  over_();
}

void HostLink::receive(const wire::v1::Report& report) {
  if (!welcomed_ && report.has_welcome()) return welcome(report.welcome());
  NumberedReport decoded;
  const Status status = wire::decode(report, decoded);
  if (!status.ok()) {
    agent_.linkLost(status);
    return close();
  }
  agent_.receive(std::move(decoded));
}

void HostLink::welcome(const wire::v1::Welcome& welcome) {
  if (const Status understood = checkWelcome(welcome); !understood.ok()) return agent_.linkLost(understood);
  welcomed_ = true;
  token_ = welcome.token();
  if (timeout_) loop_.cancel(*std::exchange(timeout_, std::nullopt));
  agent_.linkUp(*this);
}

void HostLink::failToComeUp(const Status& why) {
  agent_.linkLost(explain_ ? explain_(why) : why);
}

// An agent ends its job when it finds the stream lost. One that is behind a service may not find it for some
// seconds, but can be told.
void HostLink::ended(const Status& why) {
  // The other end of our socket is here, and what carries it knows more.
  const bool broken = why.code() == Code::kUnavailable && !why_broken_.empty();
  how_ended_ = broken ? unavailable(why_broken_) : why;
  if (!why.ok() && !welcomed_) {
    failToComeUp(whyRefused(how_ended_));
    return over_();
  }
  agent_.linkLost(how_ended_.ok() ? unavailable("the popdist-agent there has ended") : how_ended_);
  if (why.code() != Code::kUnavailable || token_.empty() || !end_job_) return over_();
  wire::v1::EndJobRequest request;
  request.set_job_id(job_id_);
  request.set_token(token_);
  ending_job_ = true;
  end_job_(std::move(request), [this](const Status&) {
    ending_job_ = false;
    over_();
  });
}

}  // namespace pop
