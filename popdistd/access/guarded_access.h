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

  void createUser(const Caller& caller, v1::CreateUserRequest request,
                  Reply<v1::CreateUserReply> reply) override;
  void listUsers(const Caller& caller, v1::ListUsersRequest request,
                 Reply<v1::ListUsersReply> reply) override;
  void removeUser(const Caller& caller, v1::UserRef user, Reply<v1::Nothing> reply) override;
  void createToken(const Caller& caller, v1::CreateTokenRequest request,
                   Reply<v1::CreateTokenReply> reply) override;
  void listTokens(const Caller& caller, v1::ListTokensRequest request,
                  Reply<v1::ListTokensReply> reply) override;
  void removeToken(const Caller& caller, v1::TokenRef token, Reply<v1::Nothing> reply) override;
  void listAudit(const Caller& caller, v1::ListAuditRequest request,
                 Reply<v1::ListAuditReply> reply) override;
  void checkAudit(const Caller& caller, v1::Nothing nothing, Reply<v1::CheckAuditReply> reply) override;

 private:
  AccessApi& inner_;
  Guard guard_;
};

}  // namespace pop::popdistd
