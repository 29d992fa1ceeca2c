// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/grpc_services.h"

#include <utility>

#include "popdistd/api/job_wait.h"
#include "popdistd/rpc/attach_call.h"
#include "popdistd/rpc/file_source.h"
#include "popdistd/rpc/service_calls.h"
#include "popdistd/rpc/watch_call.h"
#include "proto/popdist/v1/controller.grpc.pb.h"

namespace pop::popdistd {
namespace {

using RawWatch = v1::Controller::WithRawCallbackMethod_Watch<v1::Controller::CallbackService>;

class ControllerService final : public RawWatch, private ServiceCalls<Api> {
 public:
  using ServiceCalls::ServiceCalls;

#define CALL(Name, member, Request, Answer, ...)                                           \
  Unary* Name(Context* context, const v1::Request* request, v1::Answer* answer) override { \
    return unary(context, request, answer, &Api::member);                                  \
  }
#include "proto/calls/controller.def"

  // ---- those that take time

  Unary* Wait(Context* context, const v1::JobRef* request, v1::JobInfo* answer) override {
    return started<UnaryCall<v1::JobRef, v1::JobInfo>>(
        calls(), callerIn(context), request, answer,
        [this](const Caller& caller, const v1::JobRef& job, Reply<v1::JobInfo> reply) {
          return waitForJob(api(), caller, job, std::move(reply));
        });
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* Watch(Context* context,
                                                    const grpc::ByteBuffer* request) override {
    return started<WatchCall>(*context, calls(), callerIn(context), request, openWatch(api()));
  }
  grpc::ServerWriteReactor<v1::Record>* Logs(Context* context, const v1::LogsRequest* request) override {
    return stream(context, request, &Api::logs);
  }

  grpc::ServerWriteReactor<v1::BackupChunk>* Backup(Context* context, const v1::Nothing* request) override {
    using Call = SourceCall<v1::Nothing, v1::BackupChunk>;
    return started<Call>(*context, calls(), callerIn(context), request,
                         [this](const Caller& caller, const v1::Nothing&, const std::function<void()>&,
                                const Call::Made& made) {
                           api().backup(caller, {}, [made](const Result<std::string>& path) {
                             if (!path.ok()) return made(path.status());
                             made(openAndRemove(path.value()));  // also where the client has gone
                           });
                         });
  }

  grpc::ServerBidiReactor<v1::AttachRequest, v1::Record>* Attach(Context* context) override {
    return started<AttachCall>(*context, calls(), callerIn(context), api());
  }
};

}  // namespace

std::unique_ptr<grpc::Service> makeControllerService(std::shared_ptr<Calls> calls, Api& api,
                                                     std::shared_ptr<const CallersOf> callers) {
  return std::make_unique<ControllerService>(std::move(calls), api, std::move(callers));
}

}  // namespace pop::popdistd
