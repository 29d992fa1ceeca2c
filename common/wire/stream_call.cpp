// SPDX-License-Identifier: Apache-2.0
#include "common/wire/stream_call.h"

#include <utility>

#include "common/wire/report_reader.h"

namespace pop::wire {

StreamAgentCall::StreamAgentCall(os::EpollLoop& loop, sys::Fd stream, Events events)
    : events_(std::move(events)),
      stream_(loop, std::move(stream), {},
              {.message = [this](const std::string& message) { receive(message); },
               .ended = [this](const Status& how) { end(how); }}) {
  stream_.setMostBytes(kMaxMessageBytes);
}

void StreamAgentCall::receive(const std::string& message) {
  if (over_) return;
  v1::Report report;
  if (const Status read = readReport(message, report); !read.ok()) return end(read);
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
               .ended = [this](const Status&) { inbox_.close(); }}) {
  stream_.gather();
}

void StreamRunCall::receive(const std::string& message) {
  v1::Command command;
  command.ParseFromString(message) ? inbox_.receive(std::move(command)) : inbox_.close();
}

}  // namespace pop::wire
