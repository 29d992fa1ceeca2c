// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/host_parts.h"

#include <utility>

#include "common/contract/version.h"
#include "common/model/host_list.h"
#include "common/sys/host_name.h"
#include "common/sys/own_program.h"
#include "poprun/bootstrap/local_bootstrapper.h"
#include "poprun/bootstrap/ssh/ssh_bootstrapper.h"

namespace pop {

std::vector<BootstrapPart> partsFor(os::EpollLoop& loop, const HostsOptions& options, SshOptions ssh,
                                    const std::vector<model::Host>& hosts) {
  const std::string agent = sys::ownProgram("popdist-agent");
  const std::string own_name = sys::hostName();
  BootstrapPart here;
  BootstrapPart there;
  std::vector<std::string> targets;
  for (int host = 0; host < static_cast<int>(hosts.size()); ++host) {
    const std::string& name = hosts[static_cast<std::size_t>(host)].name;
    const bool own = model::isThisHost(name, own_name);
    (own ? here : there).hosts.push_back(host);
    if (!own) targets.push_back(name);
  }
  std::vector<BootstrapPart> parts;
  if (!here.hosts.empty()) {
    here.bootstrapper = std::make_unique<LocalBootstrapper>(loop, std::vector<std::string>{agent, "--stdio"},
                                                            static_cast<int>(here.hosts.size()));
    parts.push_back(std::move(here));
  }
  if (!there.hosts.empty()) {
    AgentProgram program{
        .version = contract::kVersion, .local_file = agent, .remote_path = options.agent_path};
    there.bootstrapper =
        std::make_unique<SshBootstrapper>(loop, std::move(targets), std::move(ssh), std::move(program));
    parts.push_back(std::move(there));
  }
  return parts;
}

}  // namespace pop
