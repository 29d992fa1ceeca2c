// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/access_service.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/text.h"
#include "common/log/log.h"
#include "common/tls/certificates.h"
#include "popdistd/access/policy.h"

namespace pop::popdistd {
namespace {

constexpr std::int64_t kDay_s = 24 * 3600;
constexpr std::int64_t kUsualExpiry_s = 30 * kDay_s;
constexpr std::int64_t kLongestExpiry_s = 366 * kDay_s;
constexpr std::int64_t kExpiredAreKept_s = 7 * kDay_s;
constexpr std::int64_t kMostTokensOfOne = 100;

bool isRole(v1::Role role) {
  return role >= v1::ROLE_VIEWER && role <= v1::ROLE_ADMIN;
}

// Else a token that leaks would have children, which outlive it.
Status checkMakesSecrets(const Caller& caller) {
  if (caller.known_by != v1::KNOWN_BY_TOKEN && caller.known_by != v1::KNOWN_BY_SESSION &&
      caller.known_by != v1::KNOWN_BY_VIPU_KEY)
    return {};
  return {Code::kPermissionDenied,
          "a token makes no tokens and no keys: use a certificate, or popdistd's machine"};
}

}  // namespace

// After a failed commit, memory is ahead of the store: it is read again.
template <typename T>
void AccessService::answer(Result<T> made, Reply<T> reply) {
  if (!made.ok()) return reply(made.status());
  parts_.commits.whenDurable(
      [this, reply = std::move(reply), made = std::move(made)](const Status& status) mutable {
        if (status.ok()) return reply(std::move(made));
        if (const Status read = parts_.accounts.load(parts_.store); !read.ok())
          log::warning("users and tokens cannot be read again: " + read.message());
        reply(status);
      });
}

// ---- users

v1::UserInfo AccessService::shown(const v1::UserRecord& user) const {
  v1::UserInfo info = user.info();
  info.set_has_vipu_key(!user.vipu_key_digest().empty());
  info.set_is_fixed(parts_.accounts.isFixed(info.name()));
  if (info.is_fixed()) info.set_role(v1::ROLE_ADMIN);
  return info;
}

void AccessService::createUser(const Caller& caller, v1::CreateUserRequest request,
                               Reply<v1::CreateUserReply> reply) {
  answer(makeUser(caller, request), std::move(reply));
}

Result<v1::CreateUserReply> AccessService::makeUser(const Caller& caller,
                                                    const v1::CreateUserRequest& request) {
  const std::string& name = request.name();
  POP_RETURN_IF_ERROR(tls::checkUserName(name));
  if (request.vipu_key()) POP_RETURN_IF_ERROR(checkMakesSecrets(caller));
  if (request.role() != v1::ROLE_NONE && !isRole(request.role()))
    return invalidArgument("role " + std::to_string(request.role()) + " is none of those in access.proto");
  if (request.shut_out() && request.role() != v1::ROLE_NONE)
    return invalidArgument("a user who is shut out has no role");
  if (parts_.accounts.isFixed(name) && (request.shut_out() || request.role() != v1::ROLE_NONE) &&
      request.role() != v1::ROLE_ADMIN)
    return failedPrecondition(
        "user " + inQuotes(name) +
        " is an admin as popdistd's own user, or by --admin: that role cannot be changed by a call");
  v1::UserRecord user;
  for (const v1::UserRecord& each : parts_.accounts.users()) {
    if (each.info().name() == name) user = each;
  }
  v1::UserInfo& info = *user.mutable_info();
  if (info.name().empty()) {
    info.set_name(name);
    info.set_role(parts_.accounts.roleOf(name));
    *info.mutable_created() = timestamp(parts_.clock());
    info.set_created_by(caller.user);
  }
  if (request.shut_out() || request.role() != v1::ROLE_NONE) info.set_role(request.role());
  v1::CreateUserReply reply;
  if (request.vipu_key()) {
    reply.set_api_user_id(name);
    reply.set_api_access_key(makeSecret(parts_.random_name));
    user.set_vipu_key_digest(digestOfSecret(reply.api_access_key()));
  }
  parts_.commits.wrote(parts_.store.putRecord(RecordKind::kUser, name, user.SerializeAsString()));
  parts_.accounts.setUser(user);
  if (parts_.roles_changed) parts_.roles_changed();
  *reply.mutable_user() = shown(user);
  return reply;
}

void AccessService::listUsers(const Caller&, v1::ListUsersRequest, Reply<v1::ListUsersReply> reply) {
  v1::ListUsersReply list;
  std::map<std::string, v1::UserInfo> all;
  for (const std::string& name : parts_.accounts.fixed()) {
    v1::UserRecord user;
    user.mutable_info()->set_name(name);
    all[name] = shown(user);
  }
  for (const v1::UserRecord& each : parts_.accounts.users()) all[each.info().name()] = shown(each);
  for (auto& [name, info] : all) *list.add_users() = std::move(info);
  reply(std::move(list));
}

void AccessService::removeUser(const Caller&, v1::UserRef user, Reply<v1::Nothing> reply) {
  const Status dropped = dropUser(user.name());
  answer<v1::Nothing>(dropped.ok() ? Result<v1::Nothing>(v1::Nothing()) : dropped, std::move(reply));
}

Status AccessService::dropUser(const std::string& name) {
  const std::vector<v1::UserRecord> users = parts_.accounts.users();
  bool is_there = std::any_of(users.begin(), users.end(),
                              [&name](const v1::UserRecord& each) { return each.info().name() == name; });
  for (const v1::TokenRecord& each : parts_.accounts.tokens()) {
    if (each.info().user() != name) continue;
    is_there = true;
    dropTokenRecord(each.info().id());
  }
  if (!is_there && parts_.accounts.isFixed(name))
    return failedPrecondition("user " + inQuotes(name) +
                              " is an admin as popdistd's own user, or by --admin: nothing of it is stored");
  if (!is_there) return {Code::kNotFound, "no user " + inQuotes(name) + " is stored: it has the usual role"};
  parts_.commits.wrote(parts_.store.removeRecord(RecordKind::kUser, name));
  parts_.accounts.removeUser(name);
  if (parts_.roles_changed) parts_.roles_changed();
  return {};
}

// ---- tokens

void AccessService::createToken(const Caller& caller, v1::CreateTokenRequest request,
                                Reply<v1::CreateTokenReply> reply) {
  answer(makeToken(caller, request), std::move(reply));
}

Result<v1::CreateTokenReply> AccessService::makeToken(const Caller& caller,
                                                      const v1::CreateTokenRequest& request) {
  POP_RETURN_IF_ERROR(checkMakesSecrets(caller));
  const std::string user = request.user().empty() ? caller.user : request.user();
  POP_RETURN_IF_ERROR(tls::checkUserName(user));
  if (user != caller.user && caller.role < v1::ROLE_ADMIN)
    return Status(Code::kPermissionDenied, "only admins make tokens for other users");
  const v1::Role most = std::min(caller.role, parts_.accounts.roleOf(user));
  const v1::Role scope = request.scope() == v1::ROLE_NONE ? most : request.scope();
  if (!isRole(scope)) return invalidArgument("scope " + std::to_string(scope) + " is no role");
  if (scope > most)
    return Status(Code::kPermissionDenied, "a token of user " + inQuotes(user) + " has at most the scope " +
                                               std::string(roleName(most)) + ", not " +
                                               std::string(roleName(scope)));
  const std::int64_t expires_s = request.expires_after_s() == 0 ? kUsualExpiry_s : request.expires_after_s();
  if (expires_s < 1 || expires_s > kLongestExpiry_s)
    return invalidArgument("a token expires after 1 second to 366 days, not after " +
                           std::to_string(expires_s) + " s");
  dropOldTokens();
  const std::vector<v1::TokenRecord> tokens = parts_.accounts.tokens();
  if (std::count_if(tokens.begin(), tokens.end(), [&user](const v1::TokenRecord& each) {
        return each.info().user() == user;
      }) >= kMostTokensOfOne)
    return Status(Code::kResourceExhausted,
                  "user " + inQuotes(user) + " has 100 tokens, which is the most: remove some");
  v1::CreateTokenReply reply;
  reply.set_secret(popdistd::makeToken(parts_.random_name));
  v1::TokenRecord token;
  token.set_digest(digestOfSecret(reply.secret()));
  v1::TokenInfo& info = *token.mutable_info();
  info.set_id(tokenId(token.digest()));
  info.set_user(user);
  info.set_scope(scope);
  info.set_created_by(caller.user);
  *info.mutable_created() = timestamp(parts_.clock());
  info.mutable_expires()->set_seconds(info.created().seconds() + expires_s);
  parts_.commits.wrote(parts_.store.putRecord(RecordKind::kToken, info.id(), token.SerializeAsString()));
  parts_.accounts.setToken(token);
  *reply.mutable_token() = info;
  return reply;
}

void AccessService::dropTokenRecord(const std::string& id) {
  parts_.commits.wrote(parts_.store.removeRecord(RecordKind::kToken, id));
  parts_.accounts.removeToken(id);
}

void AccessService::dropOldTokens() {
  const std::int64_t now_s = timestamp(parts_.clock()).seconds();
  for (const v1::TokenRecord& each : parts_.accounts.tokens()) {
    if (each.info().expires().seconds() + kExpiredAreKept_s < now_s) dropTokenRecord(each.info().id());
  }
}

void AccessService::listTokens(const Caller& caller, v1::ListTokensRequest,
                               Reply<v1::ListTokensReply> reply) {
  v1::ListTokensReply list;
  for (const v1::TokenRecord& each : parts_.accounts.tokens()) {
    if (each.info().user() == caller.user || caller.role >= v1::ROLE_ADMIN) *list.add_tokens() = each.info();
  }
  reply(std::move(list));
}

void AccessService::removeToken(const Caller& caller, v1::TokenRef token, Reply<v1::Nothing> reply) {
  const Status dropped = dropToken(caller, token.id());
  answer<v1::Nothing>(dropped.ok() ? Result<v1::Nothing>(v1::Nothing()) : dropped, std::move(reply));
}

// The answer must not reveal whether another user's token exists. A token that leaks cannot drop others.
Status AccessService::dropToken(const Caller& caller, const std::string& id) {
  for (const v1::TokenRecord& each : parts_.accounts.tokens()) {
    if (each.info().id() != id) continue;
    if (each.info().user() != caller.user && caller.role < v1::ROLE_ADMIN) break;
    if (!caller.token.empty() && caller.token != id && caller.role < v1::ROLE_ADMIN)
      return {Code::kPermissionDenied,
              "a token removes itself only: use a certificate, or popdistd's machine"};
    dropTokenRecord(id);
    return {};
  }
  return {Code::kNotFound, "you have no token " + inQuotes(id) + " (popctl list tokens)"};
}

void AccessService::noteUses() {
  for (const v1::TokenRecord& each : parts_.accounts.takeUsed())
    parts_.commits.wrote(
        parts_.store.putRecord(RecordKind::kToken, each.info().id(), each.SerializeAsString()));
}

// ---- the audit log

// Hosts and clients have their turns between the pieces: there may be millions of entries.
template <typename T>
void AccessService::answerInPieces(const std::shared_ptr<AuditLog::Step<T>>& step, Reply<T> reply) {
  if (std::optional<Result<T>> done = (*step)()) return reply(std::move(*done));
  parts_.loop.post([this, step, reply = std::move(reply), is_there = std::weak_ptr(is_there_)]() mutable {
    if (!is_there.expired()) answerInPieces<T>(step, std::move(reply));
  });
}

void AccessService::listAudit(const Caller&, v1::ListAuditRequest request, Reply<v1::ListAuditReply> reply) {
  answerInPieces<v1::ListAuditReply>(std::make_shared<AuditLog::Step<v1::ListAuditReply>>(
                                         parts_.audit.listing(request.user(), request.limit())),
                                     std::move(reply));
}

void AccessService::checkAudit(const Caller&, v1::Nothing, Reply<v1::CheckAuditReply> reply) {
  answerInPieces<v1::CheckAuditReply>(
      std::make_shared<AuditLog::Step<v1::CheckAuditReply>>(parts_.audit.checking()), std::move(reply));
}

}  // namespace pop::popdistd
