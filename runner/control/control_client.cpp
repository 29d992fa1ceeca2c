// SPDX-License-Identifier: Apache-2.0
#include "runner/control/control_client.h"

#include <sys/socket.h>

#include <optional>
#include <utility>

#include "common/base/check.h"
#include "common/sys/unix_socket.h"

namespace pop::runner {
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

Status askRunner(const std::string& directory, ControlMessage message, int signal,
                 const std::function<bool()>& lives) {
  os::EpollLoop loop;
  Status answer(Code::kDeadlineExceeded, kNoAnswer);
  std::optional<ControlClient> client;
  const auto end = [&](Status status) {
    answer = std::move(status);
    loop.stop();
  };
  std::function<void()> ask = [&] {
    client.reset();
    Result<sys::Fd> socket = connectToRunner(directory);
    if (!socket.ok() && !lives()) return end(socket.status());
    if (!socket.ok()) return static_cast<void>(loop.postAfter(kUntilNextConnect, ask));
    client.emplace(loop, std::move(*socket),
                   ControlClient::Events{
                       .more = [] {},
                       .done = [&] { end({}); },
                       .gone = [&] { loop.postAfter(kUntilNextConnect, ask); },
                   });
    client->send(message, signal);
  };
  ask();
  loop.postAfter(kAnswerTimeout, [&] { loop.stop(); });
  if (answer.code() == Code::kDeadlineExceeded) loop.run();
  return answer;
}

}  // namespace pop::runner
