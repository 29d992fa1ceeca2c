// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/job_command.h"

#include "poprun/plan/controller_mistakes.h"
#include "poprun/plan/detached_mistakes.h"

namespace pop {

int jobCommand(const cli::ParsedOptions& parsed, const CommandLine& line, const HostsHalf* hosts) {
  std::vector<std::string> mistakes = parsed.mistakes;
  for (std::string& mistake : findDetachedMistakes(parsed.options)) mistakes.push_back(std::move(mistake));
  for (std::string& mistake : findControllerMistakes(parsed.options)) mistakes.push_back(std::move(mistake));
  if (mistakes.empty()) {
    if (const auto failed = handOver({.runner = true}, hosts, line)) return *failed;
  }
  reportWarnings(parsed.warnings);
  if (!mistakes.empty()) return reportMistakes(mistakes);
  setLogLevel(parsed.options);
  return hosts->on_jobs(parsed.options);
}

}  // namespace pop
