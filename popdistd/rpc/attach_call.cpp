// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/attach_call.h"

#include <csignal>
#include <utility>

namespace pop::popdistd {

AttachCall::AttachCall(grpc::CallbackServerContext& context, std::shared_ptr<Calls> calls,
                       Result<Caller> caller, Api& api)
    : StreamCall(context, std::move(calls), caller.ok() ? caller->user : "", caller.status()),
      api_(api),
      caller_(std::move(caller)) {}

void AttachCall::begin() {
  StartRead(&request_);
}

// A client that will send no signals goes on reading.
void AttachCall::OnReadDone(bool ok) {
  post([this, ok] {
    if (over()) return;
    if (ok) return received();
    if (job_ == 0) end(invalidArgument("the first message has to name a job in logs.job"));
  });
}

void AttachCall::received() {
  if (const Status fits = checkSize(request_); !fits.ok()) return end(fits);
  if (job_ != 0) return passOn(request_.signal());
  if (!request_.has_logs()) return end(invalidArgument("the first message has to name a job in logs.job"));
  api_.get(*caller_, request_.logs().job(), [weak = weak_from_this(), this](const Result<v1::JobInfo>& info) {
    const auto self = weak.lock();
    if (!self || over()) return;
    if (!info.ok()) return end(info.status());
    open(info.value().id());
  });
}

// By its id: a signal must not go to a newer job that takes its name.
void AttachCall::open(std::int64_t job) {
  job_ = job;
  v1::LogsRequest logs = request_.logs();
  logs.mutable_job()->Clear();
  logs.mutable_job()->set_id(job);
  auto records = api_.logs(*caller_, logs, ready());
  if (!records.ok()) return end(records.status());
  send(std::move(*records));
  if (!over()) StartRead(&request_);
}

void AttachCall::passOn(int signal) {
  const auto reply = [weak = weak_from_this(), this](const Result<v1::JobInfo>& info) {
    if (const auto self = weak.lock()) passedOn(info.status());
  };
  if (signal == SIGTERM || signal == SIGINT) {
    v1::CancelRequest cancel;
    cancel.mutable_job()->set_id(job_);
    return api_.cancel(*caller_, std::move(cancel), reply);
  }
  v1::SignalRequest request;
  request.mutable_job()->set_id(job_);
  request.set_signal(signal);
  api_.signal(*caller_, std::move(request), reply);
}

// A job that does not run cannot take a signal; its records say what it does instead.
void AttachCall::passedOn(const Status& how) {
  if (over()) return;
  if (!how.ok() && how.code() != Code::kFailedPrecondition) return end(how);
  StartRead(&request_);
}

}  // namespace pop::popdistd
