// SPDX-License-Identifier: Apache-2.0
#include "poprun/app.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "common/contract/exit_code.h"
#include "common/log/log.h"
#include "common/model/placement.h"
#include "poprun/options.h"
#include "poprun/plan/explain.h"
#include "poprun/plan/job_builder.h"
#include "poprun/plan/topology_table.h"
#include "poprun/session/job_session.h"

namespace pop {
namespace {

// Descriptors 0-2 must exist, or the first pipe would land on one of them.
void openMissingStdio() {
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
  }
}

std::string hostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

log::Level levelOf(int verbosity) {
  return verbosity == 0 ? log::Level::kWarning : verbosity == 1 ? log::Level::kInfo : log::Level::kDebug;
}

int reportMistakes(const std::vector<std::string>& mistakes) {
  for (const std::string& mistake : mistakes) std::fprintf(stderr, "poprun: %s\n", mistake.c_str());
  return contract::kExitLauncherFailed;
}

OutputSettings outputSettings(const Options& options) {
  const bool several = numInstances(options) > 1 && !options.only_output_from_instance;
  return {.tag = options.tag_output == TagOutput::kInstance ||
                 (options.tag_output == TagOutput::kAuto && several),
          .whole_lines = several || options.tag_output == TagOutput::kInstance,
          .only_instance = options.only_output_from_instance};
}

// Text on stdout, or why it could not be written.
int print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  std::perror("poprun: writing to stdout");
  return contract::kExitLauncherFailed;
}

int explain(const model::JobSpec& spec, DryRun form) {
  const Result<std::string> plan = form == DryRun::kJson ? explainPlanJson(spec) : explainPlan(spec);
  return plan.ok() ? print(plan.value()) : reportMistakes({plan.status().message()});
}

int runArguments(const std::vector<std::string>& arguments) {
  openMissingStdio();
  const ParsedOptions parsed = parseOptions(arguments);
  const Options& options = parsed.options;
  if (options.help) return print(helpText());
  if (options.version) return print("poprun " POPRUN_VERSION "\n");

  BuiltJob job =
      buildJob(options, {hostName(), [](const char* name) -> const char* { return std::getenv(name); }});
  job.mistakes.insert(job.mistakes.begin(), parsed.mistakes.begin(), parsed.mistakes.end());
  if (!job.mistakes.empty()) return reportMistakes(job.mistakes);
  if (options.dry_run != DryRun::kNo) return explain(job.spec, options.dry_run);

  log::setLevel(levelOf(options.verbosity));
  SessionSettings settings{.output = outputSettings(options), .report_bindings = options.report_bindings};
  if (options.print_topology || options.verbosity >= 2) {
    settings.before_output = topologyTable(job.spec, model::place(job.spec));
  }
  return runJob(job.spec, settings);
}

}  // namespace

int runApp(const std::vector<std::string>& arguments) {
  try {
    return runArguments(arguments);
  } catch (const std::exception& error) {  // a library's: no memory, no descriptors
    std::fprintf(stderr, "poprun: %s (see `ulimit -n` and `ulimit -v`)\n", error.what());
    return contract::kExitLauncherFailed;
  }
}

}  // namespace pop
