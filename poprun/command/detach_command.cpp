// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/detach_command.h"

#include <string>

#include "poprun/command/detached_job.h"

namespace pop {

int detachCommand(const Options& options, const model::JobSpec& spec, const SessionSettings& settings,
                  const HostsHalf* hosts) {
  const DetachSettings detach{
      .name = options.detached.name,
      .bound = {.bytes = static_cast<std::uint64_t>(options.detached.log_limit_bytes)}};
  const Result<runner::JobEntry> job = startDetached(options, spec, settings, hosts, detach);
  if (!job.ok()) return launcherFailed(job.status());
  if (options.detached.detach) return print(std::to_string(job.value().id) + '\n');
  return showJob(job.value(), options, {.controls = true});
}

}  // namespace pop
