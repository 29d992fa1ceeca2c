// SPDX-License-Identifier: Apache-2.0
// Controller.Attach: the logs of a job, and signals to it. Included by this folder only.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <memory>

#include "popdistd/rpc/stream_call.h"

namespace pop::popdistd {

class AttachCall final
    : public StreamCall<grpc::ServerBidiReactor<v1::AttachRequest, v1::Record>, v1::Record> {
 public:
  AttachCall(grpc::CallbackServerContext& context, std::shared_ptr<Calls> calls, Result<Caller> caller,
             Api& api);

  void OnReadDone(bool ok) override;

 private:
  void begin() override;
  void received();
  void open(std::int64_t job);
  void passOn(int signal);
  void passedOn(const Status& how);

  Api& api_;
  Result<Caller> caller_;
  v1::AttachRequest request_;  ///< gRPC's while it is read
  std::int64_t job_ = 0;       ///< 0: the first message has not come
};

}  // namespace pop::popdistd
