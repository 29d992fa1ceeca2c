// SPDX-License-Identifier: Apache-2.0
// V-IPU's user API as one interface, for clients of V-IPU: gRPC only carries it. Semantics:
// proto/virmgrpc/vipuuser.proto. All of it is called on the loop's thread.
//
// Codes: kNotFound there is no such partition, GCD, allocation or machine; kAlreadyExists; kInvalidArgument a
// partition that cannot be; kResourceExhausted no block is free; kFailedPrecondition it is in use, or not in
// its state; kPermissionDenied another's allocation.
#pragma once

#include "popdistd/api/api.h"
#include "proto/virmgrpc/version.pb.h"
#include "proto/virmgrpc/vipuuser.pb.h"

namespace pop::popdistd {

class VipuApi {
 public:
  virtual ~VipuApi() = default;

#define CALL(Name, member, Request, Answer, ...) \
  virtual void member(const Caller& caller, virmgrpc::Request request, Reply<virmgrpc::Answer> reply) = 0;
#include "proto/calls/vipu.def"

  virtual void getVersion(const Caller& caller, virmgrpc::VersionRequest request,
                          Reply<virmgrpc::VersionReply> reply) = 0;
};

}  // namespace pop::popdistd
