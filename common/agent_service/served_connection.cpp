// SPDX-License-Identifier: Apache-2.0
#include "common/agent_service/served_connection.h"

#include <google/protobuf/message_lite.h>

#include <utility>

namespace pop::wire {

ServedConnection::ServedConnection(os::EpollLoop& loop, sys::Fd socket, std::string address,
                                   std::unique_ptr<tls::TlsCipher> cipher, const Limits& limits,
                                   Events events)
    : loop_(loop),
      address_(std::move(address)),
      limits_(limits),
      events_(std::move(events)),
      cipher_(cipher.get()),
      stream_(loop, std::move(socket), {},
              {.message = [this](const std::string& message) { receive(message); },
               .ended = [this](const Status& how) { ended(how); }},
              std::move(cipher)) {
  stream_.setMostBytes(limits_.most_bytes);
  stream_.setMostUnsent(limits_.most_bytes);
  wait(limits_.timeout, {Code::kDeadlineExceeded, "no request arrived in time"});
}

ServedConnection::~ServedConnection() {
  stopWaiting();
}

void ServedConnection::receive(const std::string& message) {
  if (finished_) return;
  if (!std::exchange(asked_, true)) return takeRequest(message);
  if (relay_to_) return relay_to_(message);
  v1::Command command;
  command.ParseFromString(message) ? inbox_.receive(std::move(command)) : inbox_.close();
}

void ServedConnection::takeRequest(const std::string& message) {
  v1::ServiceRequest request;
  if (!request.ParseFromString(message)) return finish({Code::kDataLoss, "it sent a malformed request"});
  if (cipher_ != nullptr) {
    Result<tls::Client> client = cipher_->client();
    if (!client.ok()) {
      refused_ = client.status();
      return finish(refused_);
    }
    peer_.name = std::move(client->user);
    if (client->job) {
      peer_.job_id = std::move(client->job->id);
      peer_.hosts = std::move(client->job->hosts);
    }
  }
  events_.request(request);
}

void ServedConnection::trust() {
  trusted_ = true;
  stopWaiting();
  stream_.setMostBytes(limits_.most_trusted_bytes);
  stream_.setMostUnsent(limits_.most_trusted_bytes);
  stream_.gather();
}

// The client closes the connection after reading the end. Closing it here with the client's data still in
// flight would lose the end; a client that never closes would keep the connection for ever, so there is a
// timeout.
void ServedConnection::finish(Status status) {
  if (std::exchange(finished_, true)) return;
  stream_.end(status);
  const bool nothing_comes = client_done_ && stream_.flushed();
  wait(nothing_comes ? std::chrono::milliseconds(0) : limits_.last_words, {});
}

void ServedConnection::ended(const Status& how) {
  client_done_ = how.ok() || stream_.wasClosed();
  if (how.ok()) return inbox_.close();
  if (client_done_ || !trusted_) return drop(how);
  refused_ = how;
  finish(how);  // its user has the time to read it
  inbox_.close();
}

// A client that asked for a job is owned by the code that serves it, which drops it with a reason of its own
// when the connection breaks: the real reason must be sent before. Malformed input gets an answer as well, so
// that a client that connected to the wrong port learns of it.
void ServedConnection::drop(const Status& why) {
  if (std::exchange(over_, true)) return;
  const Status reason = std::exchange(finished_, true) ? refused_ : why;
  stream_.end(why);
  inbox_.close();
  stopWaiting();
  events_.over(reason);
}

void ServedConnection::wait(std::chrono::milliseconds timeout, const Status& then) {
  stopWaiting();
  timer_ = loop_.postAfter(timeout, [this, then] {
    timer_.reset();
    drop(then);
  });
}

void ServedConnection::stopWaiting() {
  if (timer_) loop_.cancel(*std::exchange(timer_, std::nullopt));
}

}  // namespace pop::wire
