// SPDX-License-Identifier: Apache-2.0
// One connection to the agent service, from handshake through request to end. Until its user is trusted, it
// gets little memory and little time.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"
#include "common/tls/tls_cipher.h"
#include "common/wire/command_inbox.h"
#include "common/wire/message_stream.h"
#include "common/wire/served_call.h"

namespace pop::wire {

class ServedConnection final : public ServedCall {
 public:
  struct Limits {
    /// Maximum size of a message until the user is trusted, and of queued data for a client that does not
    /// read.
    std::size_t most_bytes = 64 << 10;
    std::size_t most_trusted_bytes = kMaxMessageBytes;  ///< then
    std::chrono::milliseconds timeout{10'000};          ///< from its beginning until it is trusted
    std::chrono::milliseconds last_words{5'000};        ///< from its end until the client has closed it
  };
  struct Events {
    /// Called once, unless the connection ends before: the client is authenticated and has made this request.
    std::function<void(const v1::ServiceRequest& request)> request;
    /// Called once: nothing more is sent or received. OK: the request was answered.
    std::function<void(const Status& why)> over;
  };

  /// `cipher`: null without TLS. Events come from the loop.
  ServedConnection(os::EpollLoop& loop, sys::Fd socket, std::string address,
                   std::unique_ptr<tls::TlsCipher> cipher, const Limits& limits, Events events);
  ~ServedConnection() override;
  ServedConnection(const ServedConnection&) = delete;
  ServedConnection& operator=(const ServedConnection&) = delete;

  bool isTrusted() const { return trusted_; }

  /// Sends the answer to a question; finish() follows.
  void answer(const google::protobuf::MessageLite& message) { stream_.send(message); }

  /// Waits until everything is sent, for at most `timeout`. The loop need not run.
  void flush(std::chrono::milliseconds timeout) { stream_.flush(timeout); }

  /// Ends the connection with `why`, unless it has ended before, and does not wait for anything more.
  void drop(const Status& why);

  void listen(RunCall::Events events) override { inbox_.listen(std::move(events)); }
  void send(v1::Report report) override { stream_.send(report); }
  void relay(std::string_view report) override { stream_.send(report); }
  void relayCommands(std::function<void(std::string_view)> to) override { relay_to_ = std::move(to); }
  void finish(Status status) override;
  std::string peerAddress() const override { return address_; }
  const Peer& peer() const override { return peer_; }
  void trust() override;

 private:
  void receive(const std::string& message);
  void takeRequest(const std::string& message);
  void ended(const Status& how);
  void wait(std::chrono::milliseconds timeout, const Status& then);
  void stopWaiting();

  os::EpollLoop& loop_;
  const std::string address_;
  const Limits limits_;
  const Events events_;
  tls::TlsCipher* const cipher_;  ///< the stream's
  Peer peer_;
  Status refused_;  ///< why the client may make no requests, or no more of them
  bool asked_ = false;
  bool trusted_ = false;
  bool client_done_ = false;  ///< nothing comes from it any more
  bool finished_ = false;
  bool over_ = false;
  std::optional<TimerId> timer_;
  std::function<void(std::string_view command)> relay_to_;
  CommandInbox inbox_;
  MessageStream stream_;
};

}  // namespace pop::wire
