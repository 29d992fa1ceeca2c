// SPDX-License-Identifier: Apache-2.0
// AccessApi behind the guard.
#pragma once

#include "popdistd/access/guard.h"
#include "popdistd/api/access_api.h"

namespace pop::popdistd {

class GuardedAccess final : public AccessApi {
 public:
  /// Both outlive the object.
  GuardedAccess(AccessApi& inner, Audit& audit, Today today = nullptr)
      : inner_(inner), guard_(audit, std::move(today)) {}

#define CALL(Name, member, Request, Answer, ...) \
  void member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) override;
#include "proto/calls/access.def"

 private:
  AccessApi& inner_;
  Guard guard_;
};

}  // namespace pop::popdistd
