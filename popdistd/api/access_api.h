// SPDX-License-Identifier: Apache-2.0
// The calls of clients about users, tokens and the audit log, as one interface: gRPC and HTTP only carry it.
// Semantics: proto/popdist/v1/access.proto. All of it is called on the loop's thread.
#pragma once

#include "popdistd/api/api.h"

namespace pop::popdistd {

class AccessApi {
 public:
  virtual ~AccessApi() = default;

#define CALL(Name, member, Request, Answer, ...) \
  virtual void member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) = 0;
#include "proto/calls/access.def"
};

}  // namespace pop::popdistd
