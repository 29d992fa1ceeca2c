// SPDX-License-Identifier: Apache-2.0
// What clients can ask of the daemon about users, tokens and the audit log, as one interface: gRPC and HTTP
// only carry it. Semantics: proto/popdist/v1/access.proto. All of it is called on the loop's thread.
#pragma once

#include "popdistd/api/api.h"

namespace pop::popdistd {

class AccessApi {
 public:
  virtual ~AccessApi() = default;

  virtual void createUser(const Caller& caller, v1::CreateUserRequest request,
                          Reply<v1::CreateUserReply> reply) = 0;
  virtual void listUsers(const Caller& caller, v1::ListUsersRequest request,
                         Reply<v1::ListUsersReply> reply) = 0;
  virtual void removeUser(const Caller& caller, v1::UserRef user, Reply<v1::Nothing> reply) = 0;
  virtual void createToken(const Caller& caller, v1::CreateTokenRequest request,
                           Reply<v1::CreateTokenReply> reply) = 0;
  virtual void listTokens(const Caller& caller, v1::ListTokensRequest request,
                          Reply<v1::ListTokensReply> reply) = 0;
  virtual void removeToken(const Caller& caller, v1::TokenRef token, Reply<v1::Nothing> reply) = 0;
  virtual void listAudit(const Caller& caller, v1::ListAuditRequest request,
                         Reply<v1::ListAuditReply> reply) = 0;
  virtual void checkAudit(const Caller& caller, v1::Nothing, Reply<v1::CheckAuditReply> reply) = 0;
};

}  // namespace pop::popdistd
