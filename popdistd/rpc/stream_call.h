// SPDX-License-Identifier: Apache-2.0
// A call that is answered by the messages of a Source, as fast as its reader takes them: one write at a time,
// and only few messages beside it. Included by this folder only.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "popdistd/api/api.h"
#include "popdistd/rpc/calls.h"
#include "popdistd/rpc/unary_call.h"

namespace pop::popdistd {

/// `Reactor`: gRPC's, which writes `Message`.
template <typename Reactor, typename Message>
class StreamCall : public Reactor, public Call {
 public:
  StreamCall(grpc::CallbackServerContext& context, std::shared_ptr<Calls> calls, std::string who,
             Status refused)
      : Call(std::move(calls), std::move(who), std::move(refused)), context_(context) {}

  void OnDone() final { dropped(); }
  void OnCancel() override { clientCancelled(); }

  /// The rest of a batch needs no turn of the loop.
  void OnWriteDone(bool ok) final {
    if (ok && !over() && ++written_ < batch_.size()) return writeNext();
    post([this, ok] { wrote(ok); });
  }

 protected:
  /// From now on its messages are sent, until its end.
  void send(std::unique_ptr<Source<Message>> source) {
    if (over()) return;
    source_ = std::move(source);
    pump();
  }

  /// For the source's maker; never calls the source at once, since it may be in the middle of something.
  std::function<void()> ready() {
    return [weak = std::weak_ptr<Call>(this->shared_from_this()), this] {
      const auto self = weak.lock();
      if (!self || over() || std::exchange(will_pump_, true)) return;
      post([this] {
        will_pump_ = false;
        pump();
      });
    };
  }

  void release() override { source_.reset(); }

 private:
  static constexpr std::size_t kMostMessages = 64;
  static constexpr std::size_t kMostBytes = 64 * 1024;

  void pump() {
    if (over() || writing() || !source_) return;
    batch_.clear();
    written_ = 0;
    std::size_t bytes = 0;
    while (batch_.size() < kMostMessages && bytes < kMostBytes) {
      std::optional<Message> message = source_->next();
      if (!message) break;
      bytes += sizeOf(*message);
      batch_.push_back(std::move(*message));
    }
    if (!batch_.empty()) {
      startedWriting();
      return writeNext();
    }
    if (const std::optional<Status> how = source_->ended()) end(*how);
  }

  // All but the last wait in gRPC for the others: a batch is sent at once. The stream's first message goes
  // with its headers, and is done only when these are sent: it must not wait.
  void writeNext() {
    grpc::WriteOptions options;
    if (std::exchange(has_begun_, true) && written_ + 1 < batch_.size()) options.set_buffer_hint();
    this->StartWrite(&batch_[written_], options);
  }

  void wrote(bool ok) {
    stoppedWriting();
    if (over()) return;
    if (!ok) return end(unavailable("the connection has ended"));
    pump();
  }

  void finish(const grpc::Status& how) final { this->Finish(how); }
  void cancel() final { context_.TryCancel(); }

  grpc::CallbackServerContext& context_;
  std::unique_ptr<Source<Message>> source_;
  bool will_pump_ = false;
  std::vector<Message> batch_;  ///< gRPC's while it is written
  std::size_t written_ = 0;     ///< likewise
  bool has_begun_ = false;      ///< likewise
};

/// A stream that only answers.
template <typename Request, typename Message>
class SourceCall final : public StreamCall<grpc::ServerWriteReactor<Message>, Message> {
 public:
  using Made = Reply<std::unique_ptr<Source<Message>>>;
  /// Makes the source, at once or later.
  using Open = std::function<void(const Caller&, const Request&, std::function<void()> ready, Made)>;

  SourceCall(grpc::CallbackServerContext& context, std::shared_ptr<Calls> calls, Result<Caller> caller,
             const Request* request, Open open)
      : StreamCall<grpc::ServerWriteReactor<Message>, Message>(
            context, std::move(calls), caller.ok() ? caller->user : "", caller.status()),
        caller_(std::move(caller)),
        request_(request),
        open_(std::move(open)) {}

 private:
  void begin() override {
    if (const Status fits = checkSize(*request_); !fits.ok()) return this->end(fits);
    open_(*caller_, *request_, this->ready(),
          [weak = std::weak_ptr<Call>(this->shared_from_this()),
           this](Result<std::unique_ptr<Source<Message>>> source) {
            const auto self = weak.lock();
            if (!self) return;
            if (!source.ok()) return this->end(source.status());
            this->send(std::move(*source));
          });
  }

  Result<Caller> caller_;
  const Request* const request_;
  const Open open_;
};

}  // namespace pop::popdistd
