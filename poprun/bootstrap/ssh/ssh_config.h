// SPDX-License-Identifier: Apache-2.0
// What ~/.ssh/config says of a host. libssh has a reader of its own, which is not used: it takes relative
// includes from the current directory, compares Host with names that HostName has replaced, and lets
// StrictHostKeyChecking decide what is known. It cannot do everything that the files may ask for, either:
// such hosts are reached by the ssh program.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poprun/bootstrap/ssh/ssh_options.h"

namespace pop {

struct SshHostConfig {
  std::string host_name;                ///< where to dial; empty: as the user wrote it
  std::string user;                     ///< empty: not said
  int port = 0;                         ///< 0: not said
  std::string known_hosts_file;         ///< of the user; empty: not said
  std::string global_known_hosts_file;  ///< of the system; empty: not said
  std::vector<std::pair<std::string, std::string>> algorithms;  ///< keyword in lower case, value; for libssh
  std::vector<std::string> identity_files;                      ///< in their order, '~' and %d resolved
  bool identities_only = false;
  std::string identity_agent = "$SSH_AUTH_SOCK";  ///< a path, or the variable that holds it, or "none"
  std::optional<HostKeyPolicy> host_keys;
  std::string needs_program;  ///< what libssh cannot do ("ProxyJump"); empty: nothing
};

/// The text of a configuration file, or nothing. `Include` may hold wildcards, so a reader gives several.
using SshConfigReader = std::function<std::vector<std::string>(const std::string& path_or_pattern)>;

/// What `files` (in order: the first value counts) say of `host` as the user wrote it. `home` stands for '~'.
SshHostConfig readSshConfig(std::string_view host, std::string_view user,
                            const std::vector<std::string>& files, const std::string& home,
                            const SshConfigReader& read);

/// The same from the files that ssh would read, or from `config_file`. Where others than the user may write
/// to one, the ssh program is needed: it says why it does not read it.
SshHostConfig sshConfigOf(std::string_view host, std::string_view user, const std::string& config_file);

/// The home of this user as ssh sees it: the password file's, not $HOME.
std::string sshHome();

/// The keys that are tried when none is named.
std::vector<std::string> usualIdentityFiles();

}  // namespace pop
