// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/guarded_access.h"

#include "popdistd/access/pass_call.h"

namespace pop::popdistd {

#define CALL(Name, member, Request, Answer, ...)                                                       \
  void GuardedAccess::member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) {     \
    passCall(guard_, #Name, inner_, &AccessApi::member, caller, std::move(request), std::move(reply)); \
  }
#include "proto/calls/access.def"

}  // namespace pop::popdistd
