// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/grpc_controller.h"

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

  // ---- those of popdistd/api/unary_methods.h

  Unary* Submit(Context* c, const v1::SubmitRequest* q, v1::SubmitReply* a) override {
    return unary(c, q, a, &Api::submit);
  }
  Unary* Get(Context* c, const v1::JobRef* q, v1::JobInfo* a) override { return unary(c, q, a, &Api::get); }
  Unary* List(Context* c, const v1::ListJobsRequest* q, v1::ListJobsReply* a) override {
    return unary(c, q, a, &Api::list);
  }
  Unary* CountJobs(Context* c, const v1::Nothing* q, v1::CountJobsReply* a) override {
    return unary(c, q, a, &Api::countJobs);
  }
  Unary* Signal(Context* c, const v1::SignalRequest* q, v1::JobInfo* a) override {
    return unary(c, q, a, &Api::signal);
  }
  Unary* Cancel(Context* c, const v1::CancelRequest* q, v1::JobInfo* a) override {
    return unary(c, q, a, &Api::cancel);
  }
  Unary* Hold(Context* c, const v1::JobRef* q, v1::JobInfo* a) override { return unary(c, q, a, &Api::hold); }
  Unary* Release(Context* c, const v1::JobRef* q, v1::JobInfo* a) override {
    return unary(c, q, a, &Api::release);
  }
  Unary* Forget(Context* c, const v1::JobRef* q, v1::Nothing* a) override {
    return unary(c, q, a, &Api::forget);
  }
  Unary* ListHosts(Context* c, const v1::ListHostsRequest* q, v1::ListHostsReply* a) override {
    return unary(c, q, a, &Api::listHosts);
  }
  Unary* GetHost(Context* c, const v1::HostRef* q, v1::HostInfo* a) override {
    return unary(c, q, a, &Api::getHost);
  }
  Unary* Drain(Context* c, const v1::DrainRequest* q, v1::HostInfo* a) override {
    return unary(c, q, a, &Api::drain);
  }
  Unary* Resume(Context* c, const v1::HostRef* q, v1::HostInfo* a) override {
    return unary(c, q, a, &Api::resume);
  }
  Unary* RemoveHost(Context* c, const v1::HostRef* q, v1::Nothing* a) override {
    return unary(c, q, a, &Api::removeHost);
  }
  Unary* SetQuota(Context* c, const v1::QuotaInfo* q, v1::QuotaInfo* a) override {
    return unary(c, q, a, &Api::setQuota);
  }
  Unary* RemoveQuota(Context* c, const v1::QuotaRef* q, v1::Nothing* a) override {
    return unary(c, q, a, &Api::removeQuota);
  }
  Unary* ListQuotas(Context* c, const v1::ListQuotasRequest* q, v1::ListQuotasReply* a) override {
    return unary(c, q, a, &Api::listQuotas);
  }
  Unary* About(Context* c, const v1::Nothing* q, v1::AboutReply* a) override {
    return unary(c, q, a, &Api::about);
  }
  Unary* CheckStore(Context* c, const v1::Nothing* q, v1::CheckStoreReply* a) override {
    return unary(c, q, a, &Api::checkStore);
  }

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
