// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/join/join_stream.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>

#include <utility>
#include <vector>

#include "agent/cluster/join/stream_words.h"

namespace pop::joining {
namespace {

constexpr const char* kMethod = "/popdist.v1.Hosts/Join";

// An idle network device forgets connections, and a host that is gone closes none.
constexpr int kKeepaliveMs = 10000;
constexpr int kKeepaliveTimeoutMs = 5000;
constexpr int kConnectTimeoutMs = 5000;

constexpr int kMaxReportBytes = 16 << 20;
constexpr int kMaxOrderBytes = 64 << 20;

std::shared_ptr<grpc::Channel> connectTo(const v1::RelayConnect& connect) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // The connection of the attempt before, and its pause, are not for this one.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxSendMessageSize(kMaxReportBytes);
  arguments.SetMaxReceiveMessageSize(kMaxOrderBytes);
  const std::shared_ptr<grpc::ChannelCredentials> credentials =
      connect.authority_pem().empty()
          ? grpc::InsecureChannelCredentials()
          : grpc::SslCredentials({connect.authority_pem(), connect.key_pem(), connect.certificate_pem()});
  return grpc::CreateCustomChannel(connect.controller(), credentials, arguments);
}

std::string textOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (!buffer.Dump(&slices).ok()) return text;
  text.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices)
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

}  // namespace

// gRPC calls it on threads of its own; what it has to say it posts to the loop. It lives until gRPC has said
// that all is over, whatever became of its stream.
class HostStream::Call final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Call(HostStream& stream, const v1::RelayConnect& connect)
      : loop_(stream.loop_),
        stream_(&stream),
        has_tls_(!connect.authority_pem().empty()),
        stub_(connectTo(connect)) {}

  void start(std::shared_ptr<Call> self) {
    self_ = std::move(self);
    stub_.PrepareBidiStreamingCall(&context_, kMethod, {}, this);
    StartRead(&incoming_);
    AddHold();  // for writes, which the loop's thread starts
    StartCall();
  }

  // On the loop's thread. Nothing can be begun any more without the hold.
  void write(const std::string& report) {
    if (released_) return;
    const grpc::Slice slice(report);
    outgoing_ = grpc::ByteBuffer(&slice, 1);
    StartWrite(&outgoing_);
  }
  void writesDone() {
    if (!released_) StartWritesDone();
  }
  void readNext() {
    if (!released_) StartRead(&incoming_);
  }
  void release() {
    if (!std::exchange(released_, true)) RemoveHold();
  }
  void leave() {
    stream_ = nullptr;
    context_.TryCancel();
    release();
  }

 private:
  void OnWriteDone(bool ok) override {
    loop_.post([self = self_, ok] {
      if (self->stream_ == nullptr) return;
      if (ok) return self->stream_->wrote();
      self->release();  // OnDone says why
    });
  }

  void OnReadDone(bool ok) override {
    auto order = std::make_shared<std::string>(ok ? textOf(incoming_) : std::string());
    incoming_.Clear();
    loop_.post([self = self_, ok, order] {
      if (self->stream_ == nullptr) return;
      if (!ok) return self->release();
      self->was_answered_ = true;
      self->stream_->events_.order(std::move(*order));
    });
  }

  void OnDone(const grpc::Status& status) override {
    loop_.post([self = std::exchange(self_, nullptr), status] {
      if (self->stream_ == nullptr) return;
      self->stream_->events_.closed(describe({.code = static_cast<Code>(status.error_code()),
                                              .text = status.error_message(),
                                              .was_answered = self->was_answered_,
                                              .has_tls = self->has_tls_}));
    });
  }

  Loop& loop_;
  HostStream* stream_;  ///< null: gone. The loop's
  const bool has_tls_;
  bool was_answered_ = false;  ///< the loop's
  bool released_ = false;      ///< the loop's
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  std::shared_ptr<Call> self_;
};

HostStream::HostStream(Loop& loop, const v1::RelayConnect& connect, Events events)
    : loop_(loop), events_(std::move(events)), call_(std::make_shared<Call>(*this, connect)) {
  call_->start(call_);
}

HostStream::~HostStream() {
  call_->leave();
}

void HostStream::send(std::string report) {
  unsent_bytes_ += report.size();
  unsent_.push_back(std::move(report));
  writeNext();
}

void HostStream::finish() {
  is_finishing_ = true;
  writeNext();
}

void HostStream::writeNext() {
  if (unsent_.empty() && !is_writing_ && is_finishing_) return call_->writesDone();
  if (unsent_.empty() || std::exchange(is_writing_, true)) return;
  const std::string report = std::move(unsent_.front());
  unsent_.pop_front();
  writing_bytes_ = report.size();
  call_->write(report);
}

void HostStream::wrote() {
  is_writing_ = false;
  unsent_bytes_ -= writing_bytes_;
  writeNext();
  events_.written();
}

void HostStream::takeNext() {
  call_->readNext();
}

}  // namespace pop::joining
