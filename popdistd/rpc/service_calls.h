// SPDX-License-Identifier: Apache-2.0
// The common part of services that carry an interface such as Api: the caller, and one line for each method
// that has one answer or a stream of them. Included by this folder only.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <utility>

#include "popdistd/api/api.h"
#include "popdistd/rpc/peer_of.h"
#include "popdistd/rpc/stream_call.h"
#include "popdistd/rpc/unary_call.h"

namespace pop::popdistd {

/// The additions of a service of `Interface` to gRPC's generated base. On gRPC's threads; the interface is
/// called on the loop's.
template <typename Interface>
class ServiceCalls {
 public:
  /// `api` outlives all calls.
  ServiceCalls(std::shared_ptr<Calls> calls, Interface& api, std::shared_ptr<const CallersOf> callers)
      : calls_(std::move(calls)), api_(api), callers_(std::move(callers)) {}

 protected:
  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;

  ~ServiceCalls() = default;

  const std::shared_ptr<Calls>& calls() const { return calls_; }
  Interface& api() const { return api_; }
  Result<Caller> callerIn(const Context* context) const { return callers_->caller(*context); }

  template <typename Started, typename... Arguments>
  static Started* started(Arguments&&... arguments) {
    const auto call = std::make_shared<Started>(std::forward<Arguments>(arguments)...);
    call->arrive();
    return call.get();
  }

  template <typename Request, typename Answer>
  Unary* unary(const Context* context, const Request* request, Answer* answer,
               void (Interface::*method)(const Caller&, Request, Reply<Answer>)) {
    return started<UnaryCall<Request, Answer>>(
        calls_, callerIn(context), request, answer,
        [this, method](const Caller& caller, Request asked, Reply<Answer> reply) {
          (api_.*method)(caller, std::move(asked), std::move(reply));
          return nullptr;
        });
  }

  template <typename Request, typename Message>
  grpc::ServerWriteReactor<Message>* stream(Context* context, const Request* request,
                                            Result<std::unique_ptr<Source<Message>>> (Interface::*method)(
                                                const Caller&, const Request&, Api::Ready)) {
    using Answering = SourceCall<Request, Message>;
    return started<Answering>(
        *context, calls_, callerIn(context), request,
        [this, method](const Caller& caller, const Request& asked, std::function<void()> ready,
                       const typename Answering::Made& made) {
          made((api_.*method)(caller, asked, std::move(ready)));
        });
  }

 private:
  const std::shared_ptr<Calls> calls_;
  Interface& api_;
  const std::shared_ptr<const CallersOf> callers_;
};

}  // namespace pop::popdistd
