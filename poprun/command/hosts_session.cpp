// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/hosts_session.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/contract/exit_code.h"
#include "common/model/host_list.h"
#include "common/sys/host_name.h"
#include "common/sys/process_setup.h"
#include "controller/hosts/hosts_controller.h"
#include "poprun/command/host_preparation.h"
#include "poprun/command/ssh_settings.h"

namespace pop {
namespace {

std::vector<std::string> otherHosts(const std::vector<model::Host>& hosts) {
  const std::string own_name = sys::hostName();
  std::vector<std::string> others;
  for (const model::Host& host : hosts) {
    if (!model::isThisHost(host.name, own_name)) others.push_back(host.name);
  }
  return others;
}

}  // namespace

int runOnHosts(const Options& options, const model::JobSpec& spec, const SessionSettings& settings,
               MakeParts make_parts) {
  Result<SshOptions> ssh = sshOptions(options.hosts);
  if (!ssh.ok()) return launcherFailed(ssh.status());
  // A job that may go on without some hosts does not wait for them.
  if (!spec.min_hosts) ssh->more_tries = spec.max_restarts;
  ssh->before_next_try = std::max(ssh->before_next_try, spec.restart_delay);
  Result<HostAccess> access = hostAccess(options.hosts, spec.hosts.size(), nullptr);
  if (!access.ok()) return launcherFailed(access.status());
  const std::vector<std::string> failures = prepareHosts(spec.copies, otherHosts(spec.hosts), *ssh);
  const char* const way =
      options.hosts.agent_port != 0 ? " (--synchronise uses ssh even with --agent-port)" : "";
  for (const std::string& failure : failures) std::fprintf(stderr, "poprun: %s%s\n", failure.c_str(), way);
  if (!failures.empty()) return contract::kExitLauncherFailed;
  if (const Status ready = sys::setUpForJobs(); !ready.ok()) return launcherFailed(ready);
  return runSession(spec, settings, [&](os::EpollLoop& loop, const SessionOutput& output) {
    HostsSettings hosts{.whole_lines_out = settings.output.out.whole_lines,
                        .whole_lines_err = settings.output.err.whole_lines,
                        .times = {.silence = options.hosts.silence}};
    access->say = [say = output.say](const std::string& line) { say(line + '\n'); };
    if (access->service.hosts.empty())
      access->parts = make_parts(loop, options.hosts, std::move(*ssh), spec.hosts);
    return std::make_unique<HostsController>(loop, output.sink, std::move(hosts), std::move(*access));
  });
}

}  // namespace pop
