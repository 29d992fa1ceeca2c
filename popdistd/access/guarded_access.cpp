// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/guarded_access.h"

#include "popdistd/access/pass_call.h"

namespace pop::popdistd {

void GuardedAccess::createUser(const Caller& caller, v1::CreateUserRequest request,
                               Reply<v1::CreateUserReply> reply) {
  passCall(guard_, "CreateUser", inner_, &AccessApi::createUser, caller, std::move(request),
           std::move(reply));
}

void GuardedAccess::listUsers(const Caller& caller, v1::ListUsersRequest request,
                              Reply<v1::ListUsersReply> reply) {
  passCall(guard_, "ListUsers", inner_, &AccessApi::listUsers, caller, std::move(request), std::move(reply));
}

void GuardedAccess::removeUser(const Caller& caller, v1::UserRef user, Reply<v1::Nothing> reply) {
  passCall(guard_, "RemoveUser", inner_, &AccessApi::removeUser, caller, std::move(user), std::move(reply));
}

void GuardedAccess::createToken(const Caller& caller, v1::CreateTokenRequest request,
                                Reply<v1::CreateTokenReply> reply) {
  passCall(guard_, "CreateToken", inner_, &AccessApi::createToken, caller, std::move(request),
           std::move(reply));
}

void GuardedAccess::listTokens(const Caller& caller, v1::ListTokensRequest request,
                               Reply<v1::ListTokensReply> reply) {
  passCall(guard_, "ListTokens", inner_, &AccessApi::listTokens, caller, std::move(request),
           std::move(reply));
}

void GuardedAccess::removeToken(const Caller& caller, v1::TokenRef token, Reply<v1::Nothing> reply) {
  passCall(guard_, "RemoveToken", inner_, &AccessApi::removeToken, caller, std::move(token),
           std::move(reply));
}

void GuardedAccess::listAudit(const Caller& caller, v1::ListAuditRequest request,
                              Reply<v1::ListAuditReply> reply) {
  passCall(guard_, "ListAudit", inner_, &AccessApi::listAudit, caller, std::move(request), std::move(reply));
}

void GuardedAccess::checkAudit(const Caller& caller, v1::Nothing nothing, Reply<v1::CheckAuditReply> reply) {
  passCall(guard_, "CheckAudit", inner_, &AccessApi::checkAudit, caller, std::move(nothing),
           std::move(reply));
}

}  // namespace pop::popdistd
