// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "popctl/commands.h"
#include "popctl/jobs/follow.h"
#include "popctl/jobs/states.h"
#include "popctl/report.h"
#include "popctl/rpc/exit_codes.h"

namespace pop::popctl {

int waitJob(const Command& command, ControllerClient& client) {
  const Result<v1::JobRef> job = parseJob(command.object);
  if (!job.ok()) return unusable(job.status());
  std::optional<std::chrono::milliseconds> timeout;
  if (command.common.timeout_s)
    timeout = std::chrono::milliseconds(static_cast<std::int64_t>(*command.common.timeout_s * 1000));
  const Result<v1::JobInfo> ended = waitForEnd(client, job.value(), timeout);
  if (!ended.ok()) return failed(command, ended.status());
  if (command.common.json) {
    if (const int not_printed = printJson(ended.value()); not_printed != 0) return not_printed;
  } else if (ended.value().end() == v1::END_SUCCEEDED) {
    succeeded(command);
  } else {
    std::fprintf(stderr, "popctl: %s\n", endText(ended.value()).c_str());
  }
  return exitCodeOf(ended.value());
}

}  // namespace pop::popctl
