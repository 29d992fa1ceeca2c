// SPDX-License-Identifier: Apache-2.0
// The rights: one table of all calls, and how it is read. Pure.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "popdistd/api/caller.h"

namespace pop::popdistd {

struct Rule {
  std::string_view method;   ///< by its name in the .proto; the same name means the same everywhere
  v1::Role least;            ///< of who may call it
  v1::Role others;           ///< for calling it on another user's job
  bool is_audited;           ///< it changes something, or gives everything away
  bool is_for_keys = false;  ///< V-IPU's clients, known by a key, call it too
};

/// The caller of an earlier moment as it is now. kUnauthenticated: it is no caller any more.
using Today = std::function<Result<Caller>(const Caller& caller)>;

std::span<const Rule> policy();

/// A method that is in no row is for admins, and audited.
const Rule& ruleOf(std::string_view method);

/// "viewer", "submit", "operator", "admin"; "none".
std::string_view roleName(v1::Role role);

/// Ok, or kPermissionDenied with the role that it takes.
Status checkMay(const Caller& caller, const Rule& rule);
/// The same of a call for a job of `owner`, once checkMay() has passed.
Status checkMayWithJob(const Caller& caller, const Rule& rule, std::int64_t job, const std::string& owner);

}  // namespace pop::popdistd
