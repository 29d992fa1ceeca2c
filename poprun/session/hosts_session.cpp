// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/hosts_session.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/contract/exit_code.h"
#include "common/contract/version.h"
#include "common/model/host_list.h"
#include "common/sys/program.h"
#include "poprun/bootstrap/local_bootstrapper.h"
#include "poprun/bootstrap/ssh_bootstrapper.h"
#include "poprun/cli/shell_words.h"
#include "poprun/session/host_preparation.h"
#include "poprun/session/hosts_controller.h"
#include "poprun/session/service_part.h"

namespace pop {
namespace {

std::string ownName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

Result<SshOptions> sshOptions(const HostsOptions& options) {
  SshOptions ssh{.config_file = options.ssh_config,
                 .connect_timeout_ms = static_cast<int>(options.connect_timeout.count())};
  POP_ASSIGN_OR_RETURN(ssh.rsh, cli::splitShell(options.rsh));
  return ssh;
}

// The host of this process needs no SSH; all others do.
std::vector<BootstrapPart> partsFor(os::AsioLoop& loop, const HostsOptions& options, SshOptions ssh,
                                    const std::vector<model::Host>& hosts) {
  const std::string agent = sys::ownProgram("popdist-agent");
  const std::string own_name = ownName();
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

std::vector<std::string> otherHosts(const std::vector<model::Host>& hosts) {
  const std::string own_name = ownName();
  std::vector<std::string> others;
  for (const model::Host& host : hosts) {
    if (!model::isThisHost(host.name, own_name)) others.push_back(host.name);
  }
  return others;
}

}  // namespace

int runOnHosts(const Options& options, const model::JobSpec& spec, const SessionSettings& settings) {
  Result<SshOptions> ssh = sshOptions(options.hosts);
  if (!ssh.ok()) return launcherFailed(ssh.status());
  const bool by_service = options.hosts.agent_port != 0;
  Result<ServicePart> service = by_service ? servicePart(options.hosts, spec.hosts.size()) : ServicePart();
  if (!service.ok()) return launcherFailed(service.status());
  const std::vector<std::string> failures = prepareHosts(spec.copies, otherHosts(spec.hosts), *ssh);
  for (const std::string& failure : failures) std::fprintf(stderr, "poprun: %s\n", failure.c_str());
  if (!failures.empty()) return contract::kExitLauncherFailed;
  return runSession(spec, settings, [&](os::AsioLoop& loop, OutputMux& mux) -> std::unique_ptr<Controller> {
    HostsSettings hosts{.whole_lines_out = settings.output.out.whole_lines,
                        .whole_lines_err = settings.output.err.whole_lines,
                        .times = {.silence = options.hosts.silence},
                        .connect_timeout = options.hosts.connect_timeout,
                        .say = [&mux](const std::string& line) { mux.say(line + '\n'); }};
    std::vector<BootstrapPart> parts;
    if (!by_service) parts = partsFor(loop, options.hosts, std::move(*ssh), spec.hosts);
    return std::make_unique<HostsController>(loop, mux, std::move(hosts), std::move(parts),
                                             std::move(*service));
  });
}

}  // namespace pop
