// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/ssh_settings.h"

#include "poprun/bootstrap/ssh_words.h"
#include "poprun/cli/shell_words.h"

namespace pop {

Result<SshOptions> sshOptions(const HostsOptions& options) {
  SshOptions ssh{.config_file = options.ssh_config,
                 .connect_timeout_ms = static_cast<int>(options.connectTimeout().count()),
                 .waits_for_hosts = options.connect_timeout.has_value()};
  POP_ASSIGN_OR_RETURN(ssh.rsh, cli::splitShell(options.rsh));
  return ssh;
}

std::vector<std::string> remoteShell(const SshOptions& ssh) {
  if (!ssh.rsh.empty()) return ssh.rsh;
  std::vector<std::string> command{kSshProgram};
  if (!ssh.config_file.empty()) command.insert(command.end(), {"-F", ssh.config_file});
  return command;
}

}  // namespace pop
