// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/doctor_command.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "poprun/cli/options_doc.h"
#include "poprun/cli/version_info.h"

namespace pop {
namespace {

// doctor takes the options of a job and checks on the hosts what they need. Without a number of instances, it
// assumes one on each host.
BuiltJob jobToExamine(cli::ParsedOptions parsed, const Surroundings& here) {
  ProgramOptions& program = parsed.options.programs.front();
  if (!program.command.empty()) {
    parsed.mistakes.push_back("doctor starts no program: leave out " + inQuotes(program.command.front()) +
                              " (a program named doctor is started by `poprun -- doctor`)");
  }
  if (isJobCommand(parsed.options.detached) || parsed.options.detached.detach)
    parsed.mistakes.emplace_back(
        "doctor examines hosts: leave out --detach, --attach, --jobs, --logs and --cancel");
  program.command = {"program"};
  BuiltJob job = buildFor(parsed, parsed.options, here);
  if (program.num_instances || model::hasSlots(job.spec)) return job;
  program.num_instances = std::max(1, static_cast<int>(job.spec.hosts.size()));
  return buildFor(parsed, parsed.options, here);
}

}  // namespace

int doctorCommand(CommandLine& line, const HostsHalf* hosts) {
  const Surroundings here = surroundings(line.files);
  const cli::ParsedOptions parsed = cli::parseOptions({line.arguments.begin() + 1, line.arguments.end()},
                                                      cli::Spelling::kPoprun, here.file);
  if (parsed.options.help) return print(cli::helpText());
  if (parsed.options.version && parsed.mistakes.empty())
    return print(versionText(parsed.options.version_format));
  const BuiltJob job = jobToExamine(parsed, here);
  const Needs needs{.other_hosts = true, .by_service = parsed.options.hosts.agent_port != 0};
  if (job.mistakes.empty()) {
    if (const auto failed = handOver(needs, hosts, line)) return *failed;
  }
  reportWarnings(job.warnings);
  if (!job.mistakes.empty()) return reportMistakes(job.mistakes);
  setLogLevel(parsed.options);
  return hosts->examine(parsed.options, job.spec);
}

}  // namespace pop
