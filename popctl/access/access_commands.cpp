// SPDX-License-Identifier: Apache-2.0
#include "popctl/access/access_commands.h"

#include <cstdio>

#include "popctl/access/access_tables.h"
#include "popctl/answered.h"
#include "popctl/pods/vipu_key_file.h"

namespace pop::popctl {
namespace {

int createUser(const Command& command, AccessClient& client) {
  v1::CreateUserRequest request;
  request.set_name(command.object);
  request.set_role(command.access.role);
  request.set_shut_out(command.access.shut_out);
  request.set_vipu_key(command.access.vipu_key);
  if (request.vipu_key() && !command.common.json) {
    if (const Status can = checkVipuKeyFile(request.name()); !can.ok()) return unusable(can);
  }
  const Result<v1::CreateUserReply> reply = client.createUser(request);
  if (!reply.ok() || reply.value().api_access_key().empty() || command.common.json)
    return answered(command, reply);
  const Result<std::string> file = writeVipuKeyFile(reply.value(), client.server().address);
  const int printed = printText("api-user-id: " + reply.value().api_user_id() +
                                "\napi-access-key: " + reply.value().api_access_key() + '\n');
  if (!file.ok()) return failed(command, file.status());
  if (printed == 0 && !command.common.quiet)
    std::fprintf(stderr, "popctl: written to %s; it is not shown again\n", file.value().c_str());
  return printed;
}

int createToken(const Command& command, AccessClient& client) {
  v1::CreateTokenRequest request;
  request.set_scope(command.access.role);
  request.set_expires_after_s(command.access.expires_s);
  request.set_user(command.access.user);
  const Result<v1::CreateTokenReply> reply = client.createToken(request);
  if (!reply.ok()) return failed(command, reply.status());
  if (command.common.json) return printJson(reply.value());
  if (!command.common.quiet) std::fputs(newTokenText(reply.value().token()).c_str(), stderr);
  return printText(reply.value().secret() + '\n');
}

int listAudit(const Command& command, AccessClient& client) {
  v1::ListAuditRequest request;
  request.set_user(command.access.user);
  request.set_limit(command.access.limit);
  return shown(command, client.listAudit(request), auditTable);
}

int checkAudit(const Command& command, AccessClient& client) {
  const Result<v1::CheckAuditReply> reply = client.checkAudit({});
  const int printed = shown(command, reply, auditCheckText);
  return printed == 0 && !reply.value().broken().empty() ? 1 : printed;
}

}  // namespace

int askOfAccess(const Command& command, AccessClient& client) {
  v1::UserRef user;
  user.set_name(command.object);
  v1::TokenRef token;
  token.set_id(command.object);
  switch (command.action) {
    case Action::kCreateUser:
      return createUser(command, client);
    case Action::kListUsers:
      return shown(command, client.listUsers({}), usersTable);
    case Action::kRemoveUser:
      return answered(command, client.removeUser(user));
    case Action::kCreateToken:
      return createToken(command, client);
    case Action::kListTokens:
      return shown(command, client.listTokens({}), tokensTable);
    case Action::kRemoveToken:
      return answered(command, client.removeToken(token));
    case Action::kListAudit:
      return listAudit(command, client);
    default:
      return checkAudit(command, client);
  }
}

}  // namespace pop::popctl
