// SPDX-License-Identifier: Apache-2.0
// poprun-hosts: poprun with the code for jobs on other hosts.
#include "poprun/app.h"
#include "poprun/command/detach_command.h"
#include "poprun/command/detached_commands.h"
#include "poprun/command/doctor.h"
#include "poprun/command/held_partition.h"
#include "poprun/command/host_parts.h"
#include "poprun/command/hosts_session.h"

int main(int argc, char** argv) {
  using pop::model::JobSpec;
  const pop::HostsHalf hosts{
      .run =
          [](const pop::Options& options, const JobSpec& spec, const pop::SessionSettings& settings) {
            return pop::runOnHosts(options, spec, settings, pop::partsFor);
          },
      .examine = [](const pop::Options& options,
                    const JobSpec& spec) { return pop::runDoctor(options, spec, pop::partsFor); },
      .on_jobs = pop::detachedCommand,
      .detach = pop::detachCommand,
      .with_partition = pop::withPartition};
  return pop::runApp(argc, argv, &hosts);
}
