// SPDX-License-Identifier: Apache-2.0
// A call with one answer. Included by this folder only.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "popdistd/api/api.h"
#include "popdistd/rpc/calls.h"

namespace pop::popdistd {

/// The limit of a user's message; hosts send more.
inline constexpr std::size_t kMostRequestBytes = 4 * 1024 * 1024;

/// Its size as it was sent, or will be.
template <typename Message>
std::size_t sizeOf(const Message& message) {
  return message.ByteSizeLong();
}
inline std::size_t sizeOf(const grpc::ByteBuffer& message) {
  return message.Length();
}

/// Ok, or the error for one that is larger.
template <typename Message>
Status checkSize(const Message& message) {
  if (sizeOf(message) <= kMostRequestBytes) return {};
  return {Code::kResourceExhausted,
          "a request has at most 4 MiB, and this one has " + std::to_string(sizeOf(message)) + " bytes"};
}

template <typename Request, typename Answer>
class UnaryCall final : public grpc::ServerUnaryReactor, public Call {
 public:
  /// Starts the work. Its result is kept until the call is over, and then destroyed: so it ends work that no
  /// client waits for any more.
  using Start = std::function<std::shared_ptr<void>(const Caller&, Request, Reply<Answer>)>;

  UnaryCall(std::shared_ptr<Calls> calls, Result<Caller> caller, const Request* request, Answer* answer,
            Start start)
      : Call(std::move(calls), caller.ok() ? caller->user : "", caller.status()),
        caller_(std::move(caller)),
        request_(request),
        answer_(answer),
        start_(std::move(start)) {}

  void OnDone() override { dropped(); }
  void OnCancel() override { clientCancelled(); }

 private:
  void begin() override {
    if (const Status fits = checkSize(*request_); !fits.ok()) return end(fits);
    std::shared_ptr<void> work = start_(
        *caller_, *request_, [weak = std::weak_ptr<Call>(shared_from_this()), this](Result<Answer> answer) {
          if (const auto self = weak.lock()) answered(std::move(answer));
        });
    if (!over()) work_ = std::move(work);
  }

  // The answer is gRPC's as long as the call is not over.
  void answered(Result<Answer> answer) {
    if (over()) return;
    if (answer.ok()) *answer_ = std::move(*answer);
    end(answer.status());
  }

  void release() override { work_.reset(); }
  void finish(const grpc::Status& how) override { Finish(how); }
  void cancel() override {}

  Result<Caller> caller_;
  const Request* const request_;
  Answer* const answer_;
  const Start start_;
  std::shared_ptr<void> work_;
};

}  // namespace pop::popdistd
