// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/jobs_elsewhere.h"

#include <unistd.h>

#include <utility>

#include "common/os/helper_run.h"
#include "poprun/bootstrap/ssh/ssh_target.h"
#include "poprun/bootstrap/ssh_words.h"
#include "poprun/cli/option_table.h"
#include "poprun/cli/shell_words.h"
#include "poprun/command/ssh_settings.h"
#include "poprun/session/job_session.h"

namespace pop {
namespace {

const JobAddress& addressOf(const DetachedOptions& options) {
  for (const auto* each : {&options.attach, &options.jobs, &options.logs}) {
    if (*each) return **each;
  }
  return *options.cancel;
}

// -v and the options about output that are not at their defaults.
std::vector<std::string> outputWords(const Options& options) {
  std::vector<std::string> words;
  if (options.verbosity > 0) words.emplace_back(options.verbosity > 1 ? "-vv" : "-v");
  const Options defaults;
  const cli::ConstSettings unset{defaults, defaults.programs.front()};
  const cli::ConstSettings set{options, options.programs.front()};
  for (const cli::OptionRow& row : cli::optionTable()) {
    if (row.group != cli::Group::kOutput) continue;
    const std::vector<std::string> values = row.codec.write(set);
    if (values == row.codec.write(unset)) continue;
    for (const std::string& value : values) words.push_back(std::string(row.name) + '=' + value);
  }
  return words;
}

std::vector<std::string> poprunThere(const Options& options) {
  const DetachedOptions& detached = options.detached;
  const std::string& job = addressOf(detached).job;
  std::vector<std::string> words{"poprun"};
  for (std::string& word : outputWords(options)) words.push_back(std::move(word));
  if (detached.control) words.emplace_back("--control");
  if (detached.json) words.emplace_back("--json");
  if (detached.follow) words.emplace_back("--follow");
  if (detached.jobs) words.emplace_back("--jobs");
  if (detached.attach) words.push_back("--attach=" + job);
  if (detached.logs) words.push_back("--logs=" + job);
  if (detached.cancel) words.push_back("--cancel=" + job);
  return words;
}

}  // namespace

bool isElsewhere(const DetachedOptions& options) {
  return !addressOf(options).host.empty();
}

Result<std::vector<std::string>> elsewhereCommand(const Options& options, bool has_terminal) {
  POP_ASSIGN_OR_RETURN(const SshOptions ssh, sshOptions(options.hosts));
  POP_ASSIGN_OR_RETURN(const SshTarget target, parseSshTarget(addressOf(options.detached).host));
  std::vector<std::string> words = remoteShell(ssh);
  if (isSsh(words.front())) {
    addSettings(words, {"ConnectTimeout=" + std::to_string(connectTimeout(ssh).count())});
    addSettings(words, unlikeLogins(words.front()));
  }
  // Ctrl-C and Ctrl-Z are to reach the poprun there.
  if (options.detached.attach && has_terminal) words.emplace_back("-t");
  if (target.port != 0) words.insert(words.end(), {"-p", std::to_string(target.port)});
  words.push_back((target.user.empty() ? "" : target.user + '@') + target.host);
  words.push_back(cli::quoteShell(poprunThere(options)));
  return words;
}

int jobsElsewhere(const Options& options) {
  const bool has_terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  const Result<std::vector<std::string>> command = elsewhereCommand(options, has_terminal);
  if (!command.ok()) return launcherFailed(command.status());
  const Result<int> code = os::runInForeground(command.value());
  return code.ok() ? code.value() : launcherFailed(code.status());
}

}  // namespace pop
