// SPDX-License-Identifier: Apache-2.0
// The user's SSH configuration of a host. The installed ssh reads it: `ssh -G` prints every setting
// of a host, so that poprun and ssh cannot disagree about a file. libssh cannot do everything that a
// configuration may ask for: such hosts are reached by the ssh program.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "poprun/bootstrap/ssh/ssh_options.h"
#include "poprun/bootstrap/ssh/ssh_target.h"
#include "poprun/bootstrap/ssh/wait.h"

namespace pop {

struct SshHostConfig {
  std::string host_name;  ///< the name to connect to
  std::string user;
  int port = 22;
  std::vector<std::string> known_hosts;  ///< the user's files, to the first of which keys are added
  std::vector<std::string> system_known_hosts;
  std::vector<std::pair<std::string, std::string>> algorithms;  ///< keyword in lower case, value; for libssh
  std::vector<std::string> identity_files;  ///< that the configuration names, in their order
  bool identities_only = false;
  std::string identity_agent = "$SSH_AUTH_SOCK";  ///< a path, or the variable that holds it, or "none"
  HostKeyPolicy host_keys = HostKeyPolicy::kStrict;
  std::set<std::string> logins;     ///< by "hostbased" and "gssapi", which the ssh program can try
  bool shares_connections = false;  ///< another ssh may hold one open, over which nobody logs in
  std::string needs_program;        ///< a setting that libssh does not support ("proxyjump"); empty: none
};

/// Reads the answer of `ssh -G`. `home` replaces '~'. `defaults`: the lines that ssh prints without any
/// configuration, asked for only when a setting is not known here.
SshHostConfig sshConfigFrom(std::string_view answer, const std::string& home,
                            const std::function<const std::set<std::string>&()>& defaults);

/// The settings that ssh prints for this host. kFailedPrecondition: it refuses its configuration, and says
/// why.
Result<SshHostConfig> sshConfigOf(const SshTarget& target, const SshOptions& options, const Wait& wait);

/// The user's home directory as ssh sees it: from the password file, not $HOME.
std::string sshHome();

/// The key files to try if none is named.
std::vector<std::string> usualIdentityFiles();

}  // namespace pop
