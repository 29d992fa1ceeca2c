// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/hosts_half.h"

#include "poprun/command/detach_command.h"
#include "poprun/command/detached_commands.h"
#include "poprun/command/doctor.h"
#include "poprun/command/host_parts.h"
#include "poprun/command/hosts_session.h"

namespace pop {

HostsHalf hostsOverSsh() {
  return {
      .program = Program::kHosts,
      .run = [](const Options& options, const model::JobSpec& spec,
                const SessionSettings& settings) { return runOnHosts(options, spec, settings, partsFor); },
      .examine = [](const Options& options,
                    const model::JobSpec& spec) { return runDoctor(options, spec, partsFor); },
      .on_jobs = detachedCommand,
      .detach = detachCommand};
}

}  // namespace pop
