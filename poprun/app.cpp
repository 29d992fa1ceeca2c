// SPDX-License-Identifier: Apache-2.0
#include "poprun/app.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/base/text.h"
#include "common/contract/exit_code.h"
#include "common/log/log.h"
#include "common/model/host_list.h"
#include "common/model/placement.h"
#include "common/sys/host_name.h"
#include "common/sys/own_program.h"
#include "poprun/cli/config_file.h"
#include "poprun/cli/option_files.h"
#include "poprun/cli/options_doc.h"
#include "poprun/cli/parse.h"
#include "poprun/plan/explain.h"
#include "poprun/plan/job_builder.h"
#include "poprun/plan/topology_table.h"
#include "poprun/session/job_session.h"
#include "poprun/session/local_bindings.h"
#include "poprun/ui/output_settings.h"
#include "poprun/version_info.h"

namespace pop {
namespace {

// Descriptors 0-2 must exist, or the first pipe would land on one of them.
void openMissingStdio() {
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
  }
}

// Our caller may ignore SIGCHLD: the kernel would then reap the programs that we start before we have read
// how they ended.
void hearOfChildren() {
  std::signal(SIGCHLD, SIG_DFL);
}

// Empty when it has been removed: relative paths are found nowhere then.
std::string workingDirectory() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

log::Level levelOf(int verbosity) {
  return verbosity == 0 ? log::Level::kWarning : verbosity == 1 ? log::Level::kInfo : log::Level::kDebug;
}

Surroundings surroundings(cli::OptionFiles& files) {
  return {.host_name = sys::hostName(),
          .variable = [](const char* name) -> const char* { return std::getenv(name); },
          .file = [&files](const std::string& path) { return files.text(path); },
          .is_root = ::geteuid() == 0,
          .directory = workingDirectory(),
          .exists = [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }};
}

void reportWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::fprintf(stderr, "poprun: warning: %s\n", warning.c_str());
}

int reportMistakes(const std::vector<std::string>& mistakes) {
  for (const std::string& mistake : mistakes) std::fprintf(stderr, "poprun: %s\n", mistake.c_str());
  return contract::kExitLauncherFailed;
}

// Text on stdout, or why it could not be written.
int print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  std::perror("poprun: writing to stdout");
  return contract::kExitLauncherFailed;
}

// --export-config without a program only writes the file.
bool onlyExports(const Options& options) {
  return !options.export_config.empty() && options.programs.size() == 1 &&
         options.programs.front().command.empty();
}

// The job, and whatever is wrong with it besides having no program where it needs none.
BuiltJob buildFor(const cli::ParsedOptions& parsed, const Surroundings& here) {
  Options options = parsed.options;
  if (onlyExports(options)) options.programs.front().command = {"program"};
  BuiltJob job = buildJob(options, here);
  job.mistakes.insert(job.mistakes.begin(), parsed.mistakes.begin(), parsed.mistakes.end());
  if (options.programs.front().command.empty() && !parsed.without_program.empty())
    job.mistakes.push_back(parsed.without_program);
  job.warnings.insert(job.warnings.begin(), parsed.warnings.begin(), parsed.warnings.end());
  return job;
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

// What poprun has understood: its options, wherever they were written, without those at their defaults.
void logOptions(const Options& options) {
  log::debug(versionText(VersionFormat::kText));
  for (const std::string& line : split(cli::configText(options), '\n')) {
    if (!line.empty() && line.front() != '#') log::debug(line);
  }
}

// The agent service may be asked for this host, too.
bool hasOtherHosts(const Options& options, const model::JobSpec& spec, const std::string& own_host_name) {
  if (options.hosts.agent_port != 0) return true;
  return std::any_of(spec.hosts.begin(), spec.hosts.end(), [&own_host_name](const model::Host& host) {
    return !model::isThisHost(host.name, own_host_name);
  });
}

bool canReach(const HostsHalf* hosts, const Options& options) {
  return hosts != nullptr && (!hosts->by_service_only || options.hosts.agent_port != 0);
}

// How poprun was started: its own name, its arguments, and what of the files that they name has been read.
struct CommandLine {
  std::string name;
  std::vector<std::string> arguments;
  cli::OptionFiles files;
};

// Returns only when it could not.
int handOver(const Options& options, const CommandLine& line) {
  Result<std::vector<std::string>> handed = line.files.handOver();
  if (!handed.ok()) return reportMistakes({handed.status().message()});
  std::vector<std::string> words = std::move(handed).value();
  words.insert(words.begin(), line.name);
  words.insert(words.end(), line.arguments.begin(), line.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string program =
      sys::ownProgram(options.hosts.agent_port != 0 ? "poprun-service" : "poprun-hosts");
  ::execv(program.c_str(), argv.data());
  return reportMistakes(
      {"jobs on other hosts need " + program + ": " + errnoStatus("starting it", errno).message()});
}

int runPlanned(const Options& options, const model::JobSpec& spec, const HostsHalf* hosts) {
  const int verbosity = effectiveVerbosity(options);
  log::setLevel(levelOf(verbosity));
  if (options.debug) logOptions(options);
  SessionSettings settings{.output = outputSettings(options, spec),
                           .report_bindings = options.report_bindings || options.debug};
  if (options.print_topology || verbosity >= 2) {
    settings.before_output = topologyTable(spec, model::place(spec));
  }
  return hosts != nullptr ? hosts->run(options, spec, settings) : runJob(spec, settings);
}

// `poprun doctor` takes a job's options: what they need is looked for on its hosts. Where nothing says how
// many instances there are, one on each host.
BuiltJob jobToExamine(cli::ParsedOptions parsed, const Surroundings& here) {
  ProgramOptions& program = parsed.options.programs.front();
  if (!program.command.empty()) {
    parsed.mistakes.push_back("doctor starts no program: leave out " + inQuotes(program.command.front()) +
                              " (a program named doctor is started by `poprun -- doctor`)");
  }
  program.command = {"program"};
  const BuiltJob job = buildFor(parsed, here);
  if (program.num_instances || model::hasSlots(job.spec)) return job;
  program.num_instances = std::max(1, static_cast<int>(job.spec.hosts.size()));
  return buildFor(parsed, here);
}

int runDoctor(CommandLine& line, const HostsHalf* hosts) {
  const Surroundings here = surroundings(line.files);
  const cli::ParsedOptions parsed = cli::parseOptions({line.arguments.begin() + 1, line.arguments.end()},
                                                      cli::Spelling::kPoprun, here.file);
  if (parsed.options.help) return print(cli::helpText());
  if (parsed.options.version && parsed.mistakes.empty())
    return print(versionText(parsed.options.version_format));
  const BuiltJob job = jobToExamine(parsed, here);
  if (job.mistakes.empty() && !canReach(hosts, parsed.options)) return handOver(parsed.options, line);
  reportWarnings(job.warnings);
  if (!job.mistakes.empty()) return reportMistakes(job.mistakes);
  log::setLevel(levelOf(effectiveVerbosity(parsed.options)));
  return hosts->examine(parsed.options, job.spec);
}

int runArguments(int argc, char** argv, const HostsHalf* hosts) {
  openMissingStdio();
  hearOfChildren();
  CommandLine line{argc > 0 ? argv[0] : "poprun", {argv + std::min(argc, 1), argv + argc}, {}};
  if (hosts != nullptr) {
    if (const Status taken = line.files.takeOver(line.arguments); !taken.ok())
      return reportMistakes({taken.message()});
  }
  const cli::Spelling spelling = cli::spellingOf(line.name);
  if (spelling == cli::Spelling::kPoprun && !line.arguments.empty() && line.arguments.front() == "doctor")
    return runDoctor(line, hosts);
  const Surroundings here = surroundings(line.files);
  const cli::ParsedOptions parsed = cli::parseOptions(line.arguments, spelling, here.file);
  const Options& options = parsed.options;
  if (options.help) return print(cli::helpText());
  if (options.version && parsed.mistakes.empty()) return print(versionText(options.version_format));

  const BuiltJob job = buildFor(parsed, here);
  const bool on_hosts = hasOtherHosts(options, job.spec, here.host_name);
  const bool runs = job.mistakes.empty() && options.dry_run == DryRun::kNo && !onlyExports(options);
  if (runs && on_hosts && !canReach(hosts, options)) return handOver(options, line);
  reportWarnings(job.warnings);
  if (!job.mistakes.empty()) return reportMistakes(job.mistakes);
  if (!options.export_config.empty()) {
    const int failed = exportConfig(options);
    if (failed != 0 || onlyExports(options)) return failed;
  }
  if (options.dry_run != DryRun::kNo) return explain(job.spec, options.dry_run);
  if (const auto obstacles = findObstacles(job.spec); !obstacles.empty()) return reportMistakes(obstacles);
  return runPlanned(options, job.spec, on_hosts ? hosts : nullptr);
}

}  // namespace

int runApp(int argc, char** argv, const HostsHalf* hosts) {
  try {
    return runArguments(argc, argv, hosts);
  } catch (const std::exception& error) {  // a library's: no memory, no descriptors
    std::fprintf(stderr, "poprun: %s (see `ulimit -n` and `ulimit -v`)\n", error.what());
    return contract::kExitLauncherFailed;
  }
}

}  // namespace pop
