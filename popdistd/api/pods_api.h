// SPDX-License-Identifier: Apache-2.0
// The calls of clients about Pods besides V-IPU's own (vipu_api.h), as one interface: gRPC and HTTP only
// carry it. Semantics: proto/popdist/v1/pods.proto. All of it is called on the loop's thread.
#pragma once

#include <memory>

#include "popdistd/api/api.h"
#include "proto/popdist/v1/pods.pb.h"

namespace pop::popdistd {

class PodsApi {
 public:
  virtual ~PodsApi() = default;

#define CALL(Name, member, Request, Answer, ...) \
  virtual void member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) = 0;
#include "proto/calls/pods.def"

  /// To destroy the source lets the partition go. `ready`: see Source.
  virtual Result<std::unique_ptr<Source<v1::HoldReply>>> holdPartition(const Caller& caller,
                                                                       const v1::HoldRequest& request,
                                                                       Api::Ready ready) = 0;
};

}  // namespace pop::popdistd
