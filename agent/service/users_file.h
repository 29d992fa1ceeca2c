// SPDX-License-Identifier: Apache-2.0
// The users who may run jobs through the agent service, and their Unix users. One line for each certificate
// name:
//
//     # certificate name = Unix user, and limits on jobs and instances at once
//     alice = alice
//     ci = runner jobs=4 instances=256
//     limits jobs=16 instances=1024      # for all users together
//
// Users who are not listed are refused; there are no wildcards. docs/guide/agent_service.md.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/service/unix_user.h"

namespace pop::agent {

/// Limits on what runs at once. 0: no limit.
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

/// Reads the file at `path`. It and its directory must be writable only by the owner, who must be this user
/// or root.
ParsedUsers loadUsers(const std::string& path, const UserLookup& lookup);

}  // namespace pop::agent
