// SPDX-License-Identifier: Apache-2.0
// The instance's end of the instance link, byte by byte as the protocol has it, so that a test can also say
// what libpopdist never would.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/contract/frame.h"
#include "common/contract/instance_wire.h"
#include "common/os/epoll_loop.h"
#include "common/sys/unix_socket.h"
#include "tests/testing/run_until.h"

namespace pop::testing {

class InstanceClient {
 public:
  using Message = contract::InstanceMessage;
  using Fields = std::vector<std::string>;

  /// `loop` is the server's; it runs while the client waits for an answer.
  InstanceClient(os::EpollLoop& loop, const std::string& socket_name)
      : loop_(loop), socket_(sys::connectAbstract(socket_name).value()) {}

  void send(Message type, Fields fields) {
    sendBytes(contract::encode({static_cast<std::uint8_t>(type), std::move(fields)}).value());
  }
  void sendBytes(std::string_view bytes) { EXPECT_TRUE(sys::sendAll(socket_.get(), bytes).ok()); }

  /// Sends as many of `bytes` as there is room for now; returns their number.
  std::size_t offerBytes(std::string_view bytes) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }
  /// More than the socket holds: the server takes it meanwhile.
  void sendLong(Message type, Fields fields) {
    const std::string bytes = contract::encode({static_cast<std::uint8_t>(type), std::move(fields)}).value();
    std::size_t sent = 0;
    runUntil(loop_, [&] {
      sent += offerBytes(std::string_view(bytes).substr(sent));
      return sent == bytes.size();
    });
  }

  /// Waits for the server's next message. Nothing: it has closed the connection.
  std::optional<contract::Frame> receive() {
    runUntil(loop_, [this] {
      take();
      return !frames_.empty() || closed_;
    });
    if (frames_.empty()) return std::nullopt;
    contract::Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
  }

  /// The fields of the next message, which must be of this type.
  Fields expect(Message type) {
    const std::optional<contract::Frame> frame = receive();
    EXPECT_TRUE(frame.has_value()) << "the connection was closed";
    if (!frame) return Fields(3);
    EXPECT_EQ(static_cast<int>(frame->type), static_cast<int>(type));
    Fields fields = frame->fields;
    fields.resize(std::max<std::size_t>(fields.size(), 3));
    return fields;
  }

  /// True when the server says nothing more and closes.
  bool isClosed() { return !receive().has_value() && closed_; }

  bool hello(int instance, const std::string& job_id) {
    send(Message::kHello, {std::to_string(contract::kInstanceProtocol), std::to_string(instance), job_id});
    return expect(Message::kWelcome)[0] != "";
  }
  void put(const std::string& key, const std::string& value) { sendLong(Message::kPut, {key, value}); }
  std::optional<std::string> get(const std::string& key) {
    send(Message::kGet, {key});
    const Fields value = expect(Message::kValue);
    return value[0] == "1" ? std::optional(value[1]) : std::nullopt;
  }
  void enterFence(int timeout_ms = 60'000, const std::string& what_for = "test") {
    send(Message::kFence, {std::to_string(timeout_ms), what_for});
  }

  /// Descriptors that came with the messages so far.
  const std::vector<sys::Fd>& fds() const { return fds_; }

 private:
  void take() {
    Result<sys::Received> received = sys::receiveSome(socket_.get());
    if (!received.ok() || (received->bytes.empty() && !received->would_block)) {
      closed_ = true;
      return;
    }
    for (sys::Fd& fd : received->fds) fds_.push_back(std::move(fd));
    reader_.append(received->bytes);
    while (true) {
      Result<std::optional<contract::Frame>> frame = reader_.next();
      ASSERT_TRUE(frame.ok()) << frame.status().message();
      if (!frame->has_value()) return;
      frames_.push_back(std::move(**frame));
    }
  }

  os::EpollLoop& loop_;
  sys::Fd socket_;
  contract::FrameReader reader_;
  std::deque<contract::Frame> frames_;
  std::vector<sys::Fd> fds_;
  bool closed_ = false;
};

}  // namespace pop::testing
