// SPDX-License-Identifier: Apache-2.0
// A user of this host, as its user database has it.
#pragma once

#include <sys/types.h>

#include <functional>
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

/// kNotFound: there is no such user. Asks the host's own getent and id: a static program cannot load the
/// libraries of the host's name services, and would not know the users of LDAP.
Result<UnixUser> lookUpUser(const std::string& name);
Result<UnixUser> lookUpUser(uid_t uid);

/// Jobs run as root only where that name is written.
Status checkNotRootByAnotherName(const UnixUser& user);

/// All groups of `user`, its own among them.
Result<std::vector<gid_t>> groupsOf(const UnixUser& user);

using UserLookup = std::function<Result<UnixUser>(const std::string& name)>;

}  // namespace pop::agent
