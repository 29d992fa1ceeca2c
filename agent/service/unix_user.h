// SPDX-License-Identifier: Apache-2.0
// A user of this host, from its user database.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::agent {

struct UnixUser {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::string home;
  std::string shell;

  friend bool operator==(const UnixUser&, const UnixUser&) = default;
};

/// kNotFound: no such user. Runs the host's own getent and id: a static program cannot load the libraries of
/// the host's name services, and would not find users in LDAP.
Result<UnixUser> lookUpUser(const std::string& name);
Result<UnixUser> lookUpUser(uid_t uid);

/// Jobs run as root only if the name is literally "root".
Status checkNotRootByAnotherName(const UnixUser& user);

/// All groups of `user`, including the primary group.
Result<std::vector<gid_t>> groupsOf(const UnixUser& user);

/// A user and all its groups: what a process needs to become it.
struct Login {
  UnixUser user;
  std::vector<gid_t> groups;

  friend bool operator==(const Login&, const Login&) = default;
};

/// kFailedPrecondition: it is root by another name.
Result<Login> lookUpLogin(const std::string& name);

/// As words of a command line, the name first, and back.
std::vector<std::string> wordsOf(const Login& login);
Result<Login> loginOf(const std::vector<std::string>& words);

/// None: not looked up lately.
using KnownLogin = std::function<std::optional<Login>(const std::string& name)>;

using UserLookup = std::function<Result<UnixUser>(const std::string& name)>;

}  // namespace pop::agent
