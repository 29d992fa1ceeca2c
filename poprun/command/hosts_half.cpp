// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/hosts_half.h"

#include <string>

#include "poprun/command/detached_commands.h"
#include "poprun/command/detached_job.h"
#include "poprun/command/doctor.h"
#include "poprun/command/host_parts.h"
#include "poprun/command/hosts_session.h"

namespace pop {
namespace {

// Without --detach the job is shown; Ctrl-C ends it, and a hangup leaves it alone.
int detach(const Options& options, const model::JobSpec& spec, const SessionSettings& settings,
           const HostsHalf* hosts) {
  const DetachSettings detach{
      .name = options.detached.name,
      .bound = {.bytes = static_cast<std::uint64_t>(options.detached.log_limit_bytes)}};
  const Result<runner::JobEntry> job = startDetached(options, spec, settings, hosts, detach);
  if (!job.ok()) return launcherFailed(job.status());
  if (options.detached.detach) return print(std::to_string(job.value().id) + '\n');
  return showJob(job.value(), options, {.controls = true});
}

}  // namespace

HostsHalf hostsOverSsh() {
  return {
      .program = Program::kHosts,
      .run = [](const Options& options, const model::JobSpec& spec,
                const SessionSettings& settings) { return runOnHosts(options, spec, settings, partsFor); },
      .examine = [](const Options& options,
                    const model::JobSpec& spec) { return runDoctor(options, spec, partsFor); },
      .on_jobs = detachedCommand,
      .detach = detach};
}

}  // namespace pop
