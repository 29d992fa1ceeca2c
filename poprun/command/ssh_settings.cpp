// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/ssh_settings.h"

#include "poprun/cli/shell_words.h"

namespace pop {

Result<SshOptions> sshOptions(const HostsOptions& options) {
  SshOptions ssh{.config_file = options.ssh_config,
                 .connect_timeout_ms = static_cast<int>(options.connect_timeout.count())};
  POP_ASSIGN_OR_RETURN(ssh.rsh, cli::splitShell(options.rsh));
  return ssh;
}

}  // namespace pop
