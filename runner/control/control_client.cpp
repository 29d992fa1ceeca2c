// SPDX-License-Identifier: Apache-2.0
#include "runner/control/control_client.h"

#include <sys/socket.h>

#include <chrono>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "common/sys/unix_socket.h"

namespace pop::runner {
namespace {

constexpr std::chrono::milliseconds kAnswerTimeout{10000};

}  // namespace

ControlClient::ControlClient(os::EpollLoop& loop, sys::Fd socket, Events events)
    : loop_(loop), socket_(std::move(socket)), events_(std::move(events)) {
  loop_.watchReadable(socket_.get(), [this] { receive(); });
}

ControlClient::~ControlClient() {
  loop_.unwatch(socket_.get());
}

void ControlClient::send(ControlMessage message, int signal) {
  const Result<std::string> bytes =
      contract::encode({static_cast<std::uint8_t>(message), {std::to_string(signal)}});
  POP_CHECK(bytes.ok());
  static_cast<void>(::send(socket_.get(), bytes.value().data(), bytes.value().size(), MSG_NOSIGNAL));
}

void ControlClient::receive() {
  const Result<sys::Received> received = sys::receiveSome(socket_.get());
  const bool ended = !received.ok() || (received.value().bytes.empty() && !received.value().would_block);
  if (received.ok()) reader_.append(received.value().bytes);
  bool more = false;
  while (true) {
    const Result<std::optional<contract::Frame>> frame = reader_.next();
    if (!frame.ok() || !frame.value()) break;
    const auto message = static_cast<ControlMessage>(frame.value()->type);
    more = more || message == ControlMessage::kMore;
    if (message == ControlMessage::kDone) events_.done();
  }
  if (ended) {
    loop_.unwatch(socket_.get());
    return events_.gone();
  }
  if (more) events_.more();
}

Status askRunner(const std::string& directory, ControlMessage message, int signal) {
  POP_ASSIGN_OR_RETURN(sys::Fd socket, connectToRunner(directory));
  os::EpollLoop loop;
  Status answer =
      Status(Code::kDeadlineExceeded, "the job's runner has not answered in 10 s (is it stopped?)");
  ControlClient client(loop, std::move(socket),
                       {.more = [] {},
                        .done =
                            [&] {
                              answer = {};
                              loop.stop();
                            },
                        .gone =
                            [&] {
                              answer = unavailable("the job's runner is gone");
                              loop.stop();
                            }});
  client.send(message, signal);
  const TimerId timeout = loop.postAfter(kAnswerTimeout, [&] { loop.stop(); });
  loop.run();
  loop.cancel(timeout);
  return answer;
}

}  // namespace pop::runner
