// SPDX-License-Identifier: Apache-2.0
#include "common/agent_service/service_stream.h"

#include <google/protobuf/message_lite.h>

#include <utility>

#include "common/agent_service/connect_errors.h"

namespace pop::wire {

ServiceStream::ServiceStream(os::EpollLoop& loop, ServiceAddress address, const v1::ServiceRequest& request,
                             Events events)
    : loop_(loop),
      address_(std::move(address)),
      events_(std::move(events)),
      waiting_{request.SerializeAsString()},
      dial_(loop, address_.host, address_.port, address_.timeout,
            [this](os::Dialled outcome) { dialled(std::move(outcome)); }) {}

void ServiceStream::dialled(os::Dialled outcome) {
  if (!outcome.socket.valid()) return events_.ended(explainDial(outcome));
  MessageStream& stream = stream_.emplace(
      loop_, std::move(outcome.socket), sys::Fd(),
      MessageStream::Events{.message = events_.message, .ended = [this](Status how) { end(std::move(how)); }},
      address_.tls ? address_.tls->connectedTo(address_.host) : nullptr);
  stream.setMostBytes(kMaxMessageBytes);
  for (const std::string& message : std::exchange(waiting_, {})) stream.send(message);
  if (closed_) stream.end({});
}

// A server that expects TLS answers a plain client with bytes that are not a message.
void ServiceStream::end(Status how) {
  const bool no_word =
      !stream_->wasSpokenTo() && (stream_->wasClosed() || (!address_.tls && how.code() == Code::kDataLoss));
  events_.ended(no_word ? explainSilentEnd(address_.tls != nullptr) : std::move(how));
}

void ServiceStream::send(const google::protobuf::MessageLite& message) {
  if (stream_) return stream_->send(message);
  if (!closed_) waiting_.push_back(message.SerializeAsString());
}

void ServiceStream::close() {
  closed_ = true;
  if (stream_) stream_->end({});
}

}  // namespace pop::wire
