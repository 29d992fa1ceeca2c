// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/run_command.h"

#include <algorithm>

#include "common/base/text.h"
#include "common/log/log.h"
#include "common/model/host_list.h"
#include "common/model/placement.h"
#include "common/sys/host_name.h"
#include "poprun/cli/config_file.h"
#include "poprun/cli/options_doc.h"
#include "poprun/cli/version_info.h"
#include "poprun/command/scaling_command.h"
#include "poprun/plan/controller_mistakes.h"
#include "poprun/plan/detached_mistakes.h"
#include "poprun/plan/explain.h"
#include "poprun/plan/topology_table.h"
#include "poprun/session/local_bindings.h"
#include "poprun/ui/output_settings.h"

namespace pop {
namespace {

// --export-config without a program only writes the file.
bool onlyExports(const Options& options) {
  return !options.export_config.empty() && options.programs.size() == 1 &&
         options.programs.front().command.empty();
}

int exportConfig(const Options& options) {
  const Status written =
      cli::writeConfigFile(options.export_config, cli::configText(options), options.overwrite_config);
  return written.ok() ? 0 : reportMistakes({written.message()});
}

int explain(const model::JobSpec& spec, DryRun form) {
  const Result<HostBindings> bindings = localBindings(spec, sys::hostName());
  if (!bindings.ok()) return reportMistakes({bindings.status().message()});
  const Result<std::string> plan =
      form == DryRun::kJson ? explainPlanJson(spec, bindings.value()) : explainPlan(spec, bindings.value());
  return plan.ok() ? print(plan.value()) : reportMistakes({plan.status().message()});
}

// The options as poprun understood them, from all sources, except those at their defaults.
void logOptions(const Options& options) {
  log::debug(versionText(VersionFormat::kText));
  for (const std::string& line : split(cli::configText(options), '\n')) {
    if (!line.empty() && line.front() != '#') log::debug(line);
  }
}

// This host may also be reached through its agent service.
bool hasOtherHosts(const Options& options, const model::JobSpec& spec, const std::string& own_host_name) {
  if (options.hosts.agent_port != 0) return true;
  return std::any_of(spec.hosts.begin(), spec.hosts.end(), [&own_host_name](const model::Host& host) {
    return !model::isThisHost(host.name, own_host_name);
  });
}

// `half` has what a job with a runner needs; `hosts` is null for a job on this host.
int runPlanned(const cli::ParsedOptions& parsed, const model::JobSpec& spec, const HostsHalf* half,
               const HostsHalf* hosts) {
  const Options& options = parsed.options;
  setLogLevel(options);
  if (options.debug) logOptions(options);
  SessionSettings settings{.output = outputSettings(options, spec),
                           .report_bindings = options.report_bindings || options.debug,
                           .program_hint = parsed.program_hint};
  if (options.print_topology || effectiveVerbosity(options) >= 2) {
    settings.before_output = topologyTable(spec, model::place(spec));
  }
  if (hasRunner(options.detached)) return half->detach(options, spec, settings, hosts);
  return hosts != nullptr ? hosts->run(options, spec, settings) : runJob(spec, settings);
}

// Warnings are said by the program that runs the job.
Needs needsOf(const Options& options, const BuiltJob& job, const Surroundings& here) {
  if (!job.mistakes.empty() || options.dry_run != DryRun::kNo || onlyExports(options)) return {};
  const bool on_controller = !options.controller.server.empty();
  return {.popdistd = on_controller || needsPartition(options, job.spec),
          .runner = hasRunner(options.detached),
          .other_hosts = hasOtherHosts(options, job.spec, here.host_name),
          .by_service = options.hosts.agent_port != 0};
}

// --jobs, --logs, --attach and --cancel.
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

}  // namespace

BuiltJob jobToRun(const cli::ParsedOptions& parsed, const Surroundings& here) {
  Options options = parsed.options;
  if (onlyExports(options)) options.programs.front().command = {"program"};
  return buildFor(parsed, options, here);
}

std::optional<int> withoutJob(const cli::ParsedOptions& parsed) {
  const Options& options = parsed.options;
  if (options.help) return print(cli::helpText());
  if (options.version && parsed.mistakes.empty()) return print(versionText(options.version_format));
  if (!options.scaling_report.empty()) return scalingCommand(parsed);
  return std::nullopt;
}

std::optional<int> endsWithPlan(const Options& options, const BuiltJob& job) {
  reportWarnings(job.warnings);
  if (!job.mistakes.empty()) return reportMistakes(job.mistakes);
  if (!options.export_config.empty()) {
    const int failed = exportConfig(options);
    if (failed != 0 || onlyExports(options)) return failed;
  }
  if (options.dry_run != DryRun::kNo) return explain(job.spec, options.dry_run);
  return std::nullopt;
}

int runCommand(CommandLine& line, cli::Spelling spelling, const HostsHalf* hosts) {
  const Surroundings here = surroundings(line.files);
  const cli::ParsedOptions parsed = cli::parseOptions(line.arguments, spelling, here.file);
  const Options& options = parsed.options;
  if (const auto done = withoutJob(parsed)) return *done;
  if (isJobCommand(options.detached)) return jobCommand(parsed, line, hosts);
  const BuiltJob job = jobToRun(parsed, here);
  const Needs needs = needsOf(options, job, here);
  if (const auto failed = handOver(needs, hosts, line)) return *failed;
  if (const auto done = endsWithPlan(options, job)) return *done;
  if (!options.controller.server.empty()) return hosts->submit(options, job.spec);
  const auto run = [&](const model::JobSpec& spec) {
    return runPlanned(parsed, spec, hosts, needs.other_hosts ? hosts : nullptr);
  };
  if (!needs.popdistd) return run(job.spec);
  return hosts->with_partition(job.spec, effectiveVerbosity(options) >= 1, run);
}

}  // namespace pop
