// SPDX-License-Identifier: Apache-2.0
// Users, tokens and the audit log as people read them.
#pragma once

#include <string>

#include "proto/popdist/v1/access.pb.h"

namespace pop::popctl {

namespace v1 = ::popdist::v1;

std::string usersTable(const v1::ListUsersReply& users);
std::string tokensTable(const v1::ListTokensReply& tokens);
/// The text on a new token, besides the token.
std::string newTokenText(const v1::TokenInfo& token);
std::string auditTable(const v1::ListAuditReply& audit);
std::string auditCheckText(const v1::CheckAuditReply& check);

/// "submit"
std::string roleText(v1::Role role);
/// "certificate"
std::string knownByText(v1::KnownBy known_by);

}  // namespace pop::popctl
