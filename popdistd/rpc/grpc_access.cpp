// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/grpc_access.h"

#include <utility>

#include "popdistd/rpc/service_calls.h"
#include "proto/popdist/v1/access.grpc.pb.h"

namespace pop::popdistd {
namespace {

class GrpcAccess final : public v1::Access::CallbackService, private ServiceCalls<AccessApi> {
 public:
  using ServiceCalls::ServiceCalls;

  Unary* CreateUser(Context* c, const v1::CreateUserRequest* q, v1::CreateUserReply* a) override {
    return unary(c, q, a, &AccessApi::createUser);
  }
  Unary* ListUsers(Context* c, const v1::ListUsersRequest* q, v1::ListUsersReply* a) override {
    return unary(c, q, a, &AccessApi::listUsers);
  }
  Unary* RemoveUser(Context* c, const v1::UserRef* q, v1::Nothing* a) override {
    return unary(c, q, a, &AccessApi::removeUser);
  }
  Unary* CreateToken(Context* c, const v1::CreateTokenRequest* q, v1::CreateTokenReply* a) override {
    return unary(c, q, a, &AccessApi::createToken);
  }
  Unary* ListTokens(Context* c, const v1::ListTokensRequest* q, v1::ListTokensReply* a) override {
    return unary(c, q, a, &AccessApi::listTokens);
  }
  Unary* RemoveToken(Context* c, const v1::TokenRef* q, v1::Nothing* a) override {
    return unary(c, q, a, &AccessApi::removeToken);
  }
  Unary* ListAudit(Context* c, const v1::ListAuditRequest* q, v1::ListAuditReply* a) override {
    return unary(c, q, a, &AccessApi::listAudit);
  }
  Unary* CheckAudit(Context* c, const v1::Nothing* q, v1::CheckAuditReply* a) override {
    return unary(c, q, a, &AccessApi::checkAudit);
  }
};

}  // namespace

std::unique_ptr<grpc::Service> makeAccessService(std::shared_ptr<Calls> calls, AccessApi& access,
                                                 std::shared_ptr<const CallersOf> callers) {
  return std::make_unique<GrpcAccess>(std::move(calls), access, std::move(callers));
}

}  // namespace pop::popdistd
