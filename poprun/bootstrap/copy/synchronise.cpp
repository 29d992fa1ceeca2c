// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/copy/synchronise.h"

#include <sys/stat.h>

#include <algorithm>

#include "common/base/text.h"
#include "poprun/bootstrap/ssh_words.h"

namespace pop {
namespace {

using model::CopyState;

constexpr int kNoSuchCommand = 127;
// rsync's own time limit without progress, its start included.
constexpr int kTimedOut = 30;
constexpr int kMostStillSeconds = 60;
constexpr std::size_t kMostLines = 3;

bool isDirectory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Quotes words as rsync splits its -e: at blanks outside quotes.
std::string asOneWord(const std::vector<std::string>& rsh) {
  std::string text;
  for (const std::string& word : rsh) {
    const bool quote = word.find_first_of(" \t\"") != std::string::npos;
    text += (text.empty() ? "" : " ") + (quote ? '\'' + word + '\'' : word);
  }
  return text;
}

// Lines that rsync prints when the connection ends, whatever the cause.
bool isAboutTheEnd(const std::string& line) {
  return line.starts_with("rsync error:") || line.starts_with("rsync: connection unexpectedly") ||
         line.starts_with("rsync: [sender] write error") ||
         (line.starts_with("rsync: [sender]") && line.ends_with("Broken pipe (32)"));
}

// The first of the remaining lines, from rsync or from the remote shell.
std::vector<std::string> reasonsIn(const std::string& errors) {
  std::vector<std::string> lines;
  for (const std::string& line : split(errors, '\n')) {
    if (trimmed(line).empty() || isAboutTheEnd(line) || lines.size() == kMostLines) continue;
    lines.push_back(printable(trimmed(line)));
  }
  return lines;
}

bool isFromRsync(const std::string& line) {
  return line.starts_with("rsync:");
}

bool saysRsyncIsMissing(const std::string& errors) {
  return errors.find("rsync: command not found") != std::string::npos ||
         errors.find("rsync: not found") != std::string::npos ||
         errors.find("rsync: No such file") != std::string::npos;
}

}  // namespace

std::vector<std::string> unattended(std::vector<std::string> rsh, std::chrono::seconds connect_timeout) {
  if (!isSsh(rsh.front())) return rsh;
  addSettings(rsh, withoutQuestions(rsh.front(), connect_timeout));
  addSettings(rsh, {"ServerAliveInterval=5", "ServerAliveCountMax=3"});
  return rsh;
}

// Relative (-R) to /: the paths stay the same; missing parent directories are created, and existing ones are
// not changed.
std::vector<std::string> copyCommand(const CopySettings& settings, const std::string& host) {
  std::vector<std::string> command{"rsync",
                                   "-aR",
                                   "--no-implied-dirs",
                                   "--info=progress2",
                                   "--no-inc-recursive",
                                   "--outbuf=N",
                                   "--timeout=" + std::to_string(kMostStillSeconds),
                                   "-e",
                                   asOneWord(unattended(settings.rsh, settings.connect_timeout)),
                                   "--"};
  for (const std::string& path : settings.paths) {
    command.push_back(isDirectory(path) ? path + '/'
                                        : path);  // the directory that a link names, not the link
  }
  const bool is_address6 = std::count(host.begin(), host.end(), ':') > 1;
  command.push_back((is_address6 ? '[' + host + ']' : host) + ":/");
  return command;
}

// The exit code of rsync may be that of the remote shell or only say that the connection is lost, depending
// on which comes first.
std::string copyFailure(const std::string& host, const os::HelperEnd& end) {
  if (end.exit_code < 0) return host + ": " + end.status.message();
  if (end.exit_code == kNoSuchCommand || saysRsyncIsMissing(end.errors))
    return host +
           ": rsync is not installed there: install it (apt install rsync), or copy the files yourself and "
           "leave out --synchronise";
  if (end.exit_code == kTimedOut)
    return host + ": no progress for " + std::to_string(kMostStillSeconds) +
           " s: the login shell there, rsync or the network is stuck";
  const std::vector<std::string> reasons = reasonsIn(end.errors);
  if (reasons.empty())
    return host + ": the connection broke (rsync's exit code " + std::to_string(end.exit_code) + ')';
  const bool is_rsyncs = std::any_of(reasons.begin(), reasons.end(), isFromRsync);
  return host + (is_rsyncs ? ": copying failed: " : ": the remote shell failed: ") + join(reasons, "; ");
}

int percentIn(std::string_view progress) {
  const std::size_t sign = progress.rfind('%');
  if (sign == std::string_view::npos) return -1;
  std::size_t begin = sign;
  while (begin > 0 && progress[begin - 1] >= '0' && progress[begin - 1] <= '9') --begin;
  const Result<std::int64_t> percent = parseInteger(progress.substr(begin, sign - begin));
  return percent.ok() && percent.value() <= 100 ? static_cast<int>(percent.value()) : -1;
}

std::vector<std::string> copyToHosts(const CopySettings& settings) {
  std::vector<std::vector<std::string>> commands;
  for (const std::string& host : settings.hosts) commands.push_back(copyCommand(settings, host));
  const os::HelperEvents events{
      .started = [&](std::size_t i) { settings.progress(static_cast<int>(i), CopyState::kCopying, 0); },
      .printed =
          [&](std::size_t i, std::string_view text) {
            const int percent = percentIn(text);
            if (percent >= 0) settings.progress(static_cast<int>(i), CopyState::kCopying, percent);
          },
      .ended =
          [&](std::size_t i, const os::HelperEnd& end) {
            const bool good = end.status.ok();
            settings.progress(static_cast<int>(i), good ? CopyState::kDone : CopyState::kFailed,
                              good ? 100 : 0);
          }};
  const std::vector<os::HelperEnd> ends = os::runInParallel(commands, settings.at_once, events);
  std::vector<std::string> failures;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].status.code() == Code::kNotFound)
      return {
          "rsync is not installed on this host: install it (apt install rsync), or copy the files yourself "
          "and "
          "leave out --synchronise"};
    if (!ends[i].status.ok()) failures.push_back(copyFailure(settings.hosts[i], ends[i]));
  }
  return failures;
}

}  // namespace pop
