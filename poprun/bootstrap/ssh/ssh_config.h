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
  std::string host_name;                ///< the name to connect to; empty: as the user wrote it
  std::string user;                     ///< empty: not said
  int port = 0;                         ///< 0: not said
  std::string known_hosts_file;         ///< of the user; empty: not said
  std::string global_known_hosts_file;  ///< of the system; empty: not said
  std::vector<std::pair<std::string, std::string>> algorithms;  ///< keyword in lower case, value; for libssh
  std::vector<std::string> identity_files;                      ///< in their order, '~' and %d resolved
  bool identities_only = false;
  std::string identity_agent = "$SSH_AUTH_SOCK";  ///< a path, or the variable that holds it, or "none"
  std::optional<HostKeyPolicy> host_keys;
  std::string needs_program;  ///< a setting that libssh does not support ("ProxyJump"); empty: none
};

/// Returns the texts of the configuration files that match a pattern: `Include` allows wildcards.
using SshConfigReader = std::function<std::vector<std::string>(const std::string& path_or_pattern)>;

/// The settings in `files` (the first value counts) for `host` as the user wrote it. `home` replaces '~'.
SshHostConfig readSshConfig(std::string_view host, std::string_view user,
                            const std::vector<std::string>& files, const std::string& home,
                            const SshConfigReader& read);

/// The same from the files that ssh would read, or from `config_file`. If other users can write to a file,
/// the ssh program is used: it reports why it refuses the file.
SshHostConfig sshConfigOf(std::string_view host, std::string_view user, const std::string& config_file);

/// The user's home directory as ssh sees it: from the password file, not $HOME.
std::string sshHome();

/// The key files to try if none is named.
std::vector<std::string> usualIdentityFiles();

}  // namespace pop
