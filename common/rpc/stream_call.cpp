// SPDX-License-Identifier: Apache-2.0
#include "common/rpc/stream_call.h"

#include <utility>

namespace pop::rpc {
namespace {

Status unreadable(const char* what) {
  return {Code::kDataLoss, std::string("what came over the stream is no ") + what};
}

}  // namespace

StreamAgentCall::StreamAgentCall(os::EpollLoop& loop, sys::Fd stream, Events events)
    : events_(std::move(events)),
      stream_(loop, std::move(stream), {},
              {.message = [this](const std::string& message) { receive(message); },
               .ended = [this](const Status& how) { end(how); }}) {}

void StreamAgentCall::receive(const std::string& message) {
  if (over_) return;
  v1::Report report;
  if (!report.ParseFromString(message)) return end(unreadable("report"));
  events_.report(std::move(report));
}

void StreamAgentCall::end(const Status& how) {
  if (std::exchange(over_, true)) return;
  events_.ended(how);
}

CallMaker callOver(os::EpollLoop& loop, sys::Fd stream) {
  const auto owned = std::make_shared<sys::Fd>(std::move(stream));
  return [&loop, owned](AgentCall::Events events) {
    return std::make_unique<StreamAgentCall>(loop, std::move(*owned), std::move(events));
  };
}

StreamRunCall::StreamRunCall(os::EpollLoop& loop, sys::Fd in, sys::Fd out)
    : stream_(loop, std::move(in), std::move(out),
              {.message = [this](const std::string& message) { receive(message); },
               .ended = [this](const Status&) { noMore(); }}) {}

void StreamRunCall::listen(Events events) {
  events_ = std::move(events);
  while (!waiting_.empty() && events_.command) {
    v1::Command command = std::move(waiting_.front());
    waiting_.pop_front();
    events_.command(std::move(command));
  }
  if (closed_ && events_.closed) events_.closed();
}

void StreamRunCall::receive(const std::string& message) {
  if (closed_) return;
  v1::Command command;
  if (!command.ParseFromString(message)) return noMore();
  if (events_.command) return events_.command(std::move(command));
  waiting_.push_back(std::move(command));
}

void StreamRunCall::noMore() {
  if (std::exchange(closed_, true)) return;
  if (events_.closed) events_.closed();
}

}  // namespace pop::rpc
