// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/command_line.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "common/contract/exit_code.h"
#include "common/log/log.h"
#include "common/os/ip_address.h"
#include "common/os/this_host.h"
#include "common/sys/cores.h"
#include "common/sys/fd.h"
#include "common/sys/host_name.h"
#include "common/sys/own_program.h"
#include "common/sys/working_directory.h"

namespace pop {
namespace {

// In the order of the environment.
std::vector<std::pair<std::string, std::string>> ownEnvironment() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace

std::string workingDirectory() {
  const Result<std::string> directory = sys::workingDirectory();
  return directory.ok() ? directory.value() : std::string();
}

// /etc/hosts is read once, where a host has a name.
bool namesThisHost(const std::string& host) {
  if (!os::parseIp(host).empty()) return os::isOwnAddress(host);
  static const os::OwnNames names(sys::hostName(), [] {
    const Result<std::string> text = sys::readFile("/etc/hosts");
    return text.ok() ? text.value() : std::string();
  }());
  return names.contains(host);
}

std::optional<int> handOver(const Needs& needs, const HostsHalf* half, const CommandLine& line) {
  const Program wanted = programFor(needs);
  if (wanted <= (half == nullptr ? Program::kPoprun : half->program)) return std::nullopt;
  Result<std::vector<std::string>> handed = line.files.handOver();
  if (!handed.ok()) return reportMistakes({handed.status().message()});
  std::vector<std::string> words = std::move(handed).value();
  words.insert(words.begin(), line.name);
  words.insert(words.end(), line.arguments.begin(), line.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string program = sys::ownProgram(nameOf(wanted));
  ::execv(program.c_str(), argv.data());
  const int error = errno;
  return reportMistakes(
      {error == ENOENT ? "this needs " + program +
                             ", which is not there: install all of poprun's programs, or build them where "
                             "poprun was built: cmake --build --preset release -j2 --target poprun_programs"
                       : "this needs " + program + ": " + errnoStatus("starting it", error).message()});
}

Surroundings surroundings(cli::OptionFiles& files) {
  return {.host_name = sys::hostName(),
          .variable = [](const char* name) -> const char* { return std::getenv(name); },
          .file = [&files](const std::string& path) { return files.text(path); },
          .cores = sys::countCores,
          .is_root = ::geteuid() == 0,
          .directory = workingDirectory(),
          .exists = [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; },
          .environment = ownEnvironment(),
          .names_this_host = namesThisHost};
}

BuiltJob buildFor(const cli::ParsedOptions& parsed, const Options& options, const Surroundings& here) {
  BuiltJob job = buildJob(options, here);
  job.mistakes.insert(job.mistakes.begin(), parsed.mistakes.begin(), parsed.mistakes.end());
  if (options.programs.front().command.empty() && !parsed.without_program.empty())
    job.mistakes.push_back(parsed.without_program);
  job.warnings.insert(job.warnings.begin(), parsed.warnings.begin(), parsed.warnings.end());
  return job;
}

void setLogLevel(const Options& options) {
  const int verbosity = effectiveVerbosity(options);
  log::setLevel(verbosity == 0   ? log::Level::kWarning
                : verbosity == 1 ? log::Level::kInfo
                                 : log::Level::kDebug);
}

void reportWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::fprintf(stderr, "poprun: warning: %s\n", warning.c_str());
}

int reportMistakes(const std::vector<std::string>& mistakes) {
  for (const std::string& mistake : mistakes) std::fprintf(stderr, "poprun: %s\n", mistake.c_str());
  return contract::kExitLauncherFailed;
}

int print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  std::perror("poprun: writing to stdout");
  return contract::kExitLauncherFailed;
}

}  // namespace pop
