// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/host_link.h"

#include <utility>

#include "common/contract/version.h"
#include "common/rpc/agent_codec.h"

namespace pop {

HostLink::HostLink(Loop& loop, std::shared_ptr<grpc::Channel> channel, RemoteAgent& agent,
                   std::function<void()> over)
    : loop_(loop),
      agent_(agent),
      over_(std::move(over)),
      call_(loop, std::move(channel),
            {.report = [this](const rpc::v1::Report& report) { receive(report); },
             .ended = [this](const Status& why) { ended(why); }}) {}

HostLink::~HostLink() {
  if (patience_) loop_.cancel(*patience_);
}

void HostLink::hello(rpc::v1::Hello hello, std::chrono::milliseconds patience) {
  patience_ = loop_.postAfter(patience, [this, patience] {
    patience_.reset();
    agent_.linkLost({Code::kDeadlineExceeded, "its agent has not answered within " +
                                                  std::to_string(patience.count()) +
                                                  " ms (--connect-timeout)"});
    close();
  });
  hello.set_protocol(contract::kAgentProtocol);
  hello.set_version(contract::kVersion);
  rpc::v1::Command command;
  *command.mutable_hello() = std::move(hello);
  call_.send(std::move(command));
}

void HostLink::send(NumberedCommand command) {
  call_.send(rpc::encode(command));
}

void HostLink::finish() {
  call_.close();
}

// What still comes from there is of no interest. The stream goes as well: it is all that somebody who does
// not answer may notice.
void HostLink::close() {
  over_();
}

void HostLink::receive(const rpc::v1::Report& report) {
  if (!welcomed_ && report.has_welcome()) return welcome(report.welcome());
  NumberedReport decoded;
  const Status status = rpc::decode(report, decoded);
  if (!status.ok()) {
    agent_.linkLost(status);
    return close();
  }
  agent_.receive(std::move(decoded));
}

void HostLink::welcome(const rpc::v1::Welcome& welcome) {
  if (welcome.protocol() != contract::kAgentProtocol) {
    return agent_.linkLost(failedPrecondition("popdist-agent there is " + welcome.version() + ", poprun is " +
                                              contract::kVersion + ": they do not understand each other"));
  }
  welcomed_ = true;
  if (patience_) loop_.cancel(*std::exchange(patience_, std::nullopt));
  agent_.linkUp(*this);
}

void HostLink::ended(const Status& why) {
  // gRPC speaks of a socket; the other end of that one is here, and what carries it knows more.
  const bool broken = why.code() == Code::kUnavailable && !why_broken_.empty();
  agent_.linkLost(broken     ? unavailable(why_broken_)
                  : why.ok() ? unavailable("the popdist-agent there has ended")
                             : why);
  over_();
}

}  // namespace pop
