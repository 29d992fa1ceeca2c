// SPDX-License-Identifier: Apache-2.0
// What popdistd can be asked about users, tokens and its audit log, one blocking call each:
// proto/popdist/v1/access.proto. Errors have the server's words; kUnavailable: it cannot be reached.
#pragma once

#include <chrono>
#include <memory>

#include "common/base/status.h"
#include "popctl/rpc/server.h"
#include "proto/popdist/v1/access.pb.h"

namespace pop::popctl {

namespace v1 = ::popdist::v1;

/// From any thread.
class AccessClient {
 public:
  AccessClient(Server server, std::chrono::milliseconds timeout);
  ~AccessClient();
  AccessClient(const AccessClient&) = delete;
  AccessClient& operator=(const AccessClient&) = delete;

  const Server& server() const;

  Result<v1::CreateUserReply> createUser(const v1::CreateUserRequest& request);
  Result<v1::ListUsersReply> listUsers();
  Status removeUser(const v1::UserRef& user);
  Result<v1::CreateTokenReply> createToken(const v1::CreateTokenRequest& request);
  Result<v1::ListTokensReply> listTokens();
  Status removeToken(const v1::TokenRef& token);
  Result<v1::ListAuditReply> listAudit(const v1::ListAuditRequest& request);
  Result<v1::CheckAuditReply> checkAudit();

 private:
  struct Stubs;

  const std::unique_ptr<Stubs> stubs_;
  const std::chrono::milliseconds timeout_;
};

}  // namespace pop::popctl
