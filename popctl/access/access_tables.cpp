// SPDX-License-Identifier: Apache-2.0
#include "popctl/access/access_tables.h"

#include <vector>

#include "common/base/text.h"
#include "poprun/ui/text_table.h"

namespace pop::popctl {
namespace {

using Rows = std::vector<std::vector<std::string>>;

template <typename Timestamp>
std::string timeText(const Timestamp& time) {
  return localTime(WallTime(std::chrono::seconds(time.seconds())));
}

}  // namespace

std::string roleText(v1::Role role) {
  switch (role) {
    case v1::ROLE_VIEWER:
      return "viewer";
    case v1::ROLE_SUBMIT:
      return "submit";
    case v1::ROLE_OPERATOR:
      return "operator";
    case v1::ROLE_ADMIN:
      return "admin";
    default:
      return "none";
  }
}

std::string knownByText(v1::KnownBy known_by) {
  switch (known_by) {
    case v1::KNOWN_BY_HOST:
      return "this host";
    case v1::KNOWN_BY_CERTIFICATE:
      return "certificate";
    case v1::KNOWN_BY_SOCKET:
      return "local socket";
    case v1::KNOWN_BY_TOKEN:
      return "token";
    case v1::KNOWN_BY_SESSION:
      return "browser";
    case v1::KNOWN_BY_VIPU_KEY:
      return "V-IPU key";
    default:
      return "-";
  }
}

std::string usersTable(const v1::ListUsersReply& users) {
  Rows rows{{"USER", "ROLE", "V-IPU KEY", "BY", "SINCE"}};
  for (const v1::UserInfo& each : users.users()) {
    rows.push_back({printable(each.name()), roleText(each.role()), each.has_vipu_key() ? "yes" : "-",
                    each.is_fixed() ? "popdistd's options" : orDash(each.created_by()),
                    each.has_created() ? timeText(each.created()) : "-"});
  }
  return textTable(rows);
}

std::string tokensTable(const v1::ListTokensReply& tokens) {
  if (tokens.tokens().empty()) return "no tokens\n";
  Rows rows{{"ID", "USER", "SCOPE", "EXPIRES", "LAST USED"}};
  for (const v1::TokenInfo& each : tokens.tokens()) {
    rows.push_back({printable(each.id()), printable(each.user()), roleText(each.scope()),
                    timeText(each.expires()), each.has_last_used() ? timeText(each.last_used()) : "never"});
  }
  return textTable(rows);
}

std::string newTokenText(const v1::TokenInfo& token) {
  return "popctl: token " + printable(token.id()) + " of user " + printable(token.user()) + ", scope " +
         roleText(token.scope()) + ", until " + timeText(token.expires()) + "; it is not shown again\n";
}

std::string auditTable(const v1::ListAuditReply& audit) {
  if (audit.entries().empty()) return "no entries\n";
  Rows rows{{"ID", "TIME", "USER", "BY", "FROM", "METHOD", "CODE", "OBJECT"}};
  for (const v1::AuditEntry& each : audit.entries()) {
    rows.push_back({std::to_string(each.id()), timeText(each.at()), orDash(each.user()),
                    knownByText(each.known_by()), orDash(each.from()), orDash(each.method()),
                    std::to_string(each.code()),
                    printable(each.object()) + (each.error().empty() ? "" : ": " + printable(each.error()))});
  }
  return textTable(rows);
}

std::string auditCheckText(const v1::CheckAuditReply& check) {
  if (check.broken().empty())
    return std::to_string(check.entries()) + " entries of the audit log are as they were written\n";
  return "the audit log was changed: " + printable(check.broken()) + "; before it, " +
         std::to_string(check.entries()) + " entries are as they were written\n";
}

}  // namespace pop::popctl
