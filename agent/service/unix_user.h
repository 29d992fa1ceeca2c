// SPDX-License-Identifier: Apache-2.0
// A user of this host, as its user database has it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

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

/// kNotFound: there is no such user. Asks NSS, which may load libraries and dial servers.
Result<UnixUser> lookUpUser(const std::string& name);
Result<UnixUser> lookUpUser(uid_t uid);

using UserLookup = std::function<Result<UnixUser>(const std::string& name)>;

}  // namespace pop::agent
