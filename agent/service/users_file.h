// SPDX-License-Identifier: Apache-2.0
// Who may run jobs through the agent service, and as whom. One line for each name of a certificate:
//
//     # certificate = Unix user, and how much of it at once
//     alice = alice
//     ci = runner jobs=4 instances=256
//     limits jobs=16 instances=1024      # of all together
//
// There is no wildcard: who is not named may do nothing. docs/guide/agent_service.md.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/service/unix_user.h"

namespace pop::agent {

/// How much may run at once. 0: no limit.
struct JobLimits {
  int jobs = 0;
  int instances = 0;

  friend bool operator==(const JobLimits&, const JobLimits&) = default;
};

struct AllowedUser {
  UnixUser user;
  JobLimits limits;
};

struct UsersFile {
  std::map<std::string, AllowedUser, std::less<>> users;  ///< by the certificate's name
  JobLimits limits;                                       ///< of all users together
};

struct ParsedUsers {
  UsersFile users;
  std::vector<std::string> mistakes;  ///< "users:3: …"; when not empty, `users` must not be used
};

/// `file` names the text in messages.
ParsedUsers parseUsers(std::string_view text, const std::string& file, const UserLookup& lookup);

/// Reads the file at `path`, which nobody but its owner, ourselves or root, may write or replace.
ParsedUsers loadUsers(const std::string& path, const UserLookup& lookup);

}  // namespace pop::agent
