// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/copy/distribute_key.h"

#include <unistd.h>

#include "common/base/text.h"
#include "common/os/helper_run.h"
#include "poprun/bootstrap/copy/synchronise.h"
#include "poprun/bootstrap/ssh/ssh_options.h"
#include "poprun/bootstrap/ssh_words.h"

namespace pop {
namespace {

struct Refusal {
  std::string host;
  std::string why;
};

// The last line of ssh is the reason; earlier lines may be the remote host's greeting.
std::string lastLine(const std::string& errors) {
  std::string last = "ssh gave no reason";
  for (const std::string& line : split(errors, '\n')) {
    if (!trimmed(line).empty()) last = printable(trimmed(line));
  }
  return last;
}

std::string whyRefused(const KeySettings& settings, const os::HelperEnd& end) {
  if (end.exit_code >= 0) return lastLine(end.errors);
  if (end.status.code() != Code::kDeadlineExceeded) return end.status.message();
  return settings.rsh.front() + " did not run `true` there within " + secondsText(settings.timeout) + " s (" +
         kConnectTimeoutOption +
         " and the time to start an agent): does the login shell there wait for something?";
}

// The hosts to which ssh cannot log in without a question.
std::vector<Refusal> hostsThatRefuse(const KeySettings& settings) {
  std::vector<std::vector<std::string>> commands;
  for (const std::string& host : settings.hosts) {
    commands.push_back(unattended(settings.rsh, settings.connect_timeout));
    commands.back().insert(commands.back().end(), {host, "true"});
  }
  const std::vector<os::HelperEnd> ends = os::runInParallel(commands, settings.at_once, {}, settings.timeout);
  std::vector<Refusal> refusals;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].status.ok()) continue;
    refusals.push_back({settings.hosts[i], whyRefused(settings, ends[i])});
  }
  return refusals;
}

// A password helps if the key is refused, but not if the host cannot be reached or its host key has changed.
bool wantsPassword(const Refusal& refusal) {
  return refusal.why.find("Permission denied") != std::string::npos;
}

std::string tried(const KeySettings& settings, const std::string& key, const Refusal& refusal) {
  if (settings.copier.empty())
    return refusal.host + ": " + refusal.why +
           "; ssh-copy-id does not use --rsh: put its settings into ~/.ssh/config (ProxyJump, Port), or "
           "add " +
           key + " to ~/.ssh/authorized_keys there";
  std::vector<std::string> command(settings.copier);
  command.insert(command.end(), {"-i", key, refusal.host});
  if (!settings.has_terminal)
    return refusal.host + ": " + refusal.why + "; poprun has no terminal to ask for a password: run " +
           join(command, " ") + " first";
  std::vector<std::string> in_full(settings.copier);
  std::vector<std::string> ssh_settings = unlikeLogins(kSshProgram);
  ssh_settings.insert(ssh_settings.begin(), "BatchMode=no");
  addSettings(in_full, ssh_settings);
  in_full.insert(in_full.end(), command.begin() + static_cast<std::ptrdiff_t>(settings.copier.size()),
                 command.end());
  const Result<int> code = os::runInForeground(in_full);
  if (!code.ok()) return refusal.host + ": " + code.status().message();
  return code.value() == 0 ? "" : refusal.host + ": " + join(command, " ") + " failed";
}

}  // namespace

Result<std::string> publicKeyPath(const std::string& home) {
  for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"}) {
    const std::string path = home + "/.ssh/" + name + ".pub";
    if (::access(path.c_str(), R_OK) == 0) return path;
  }
  return Status(Code::kNotFound, "--distribute-ssh-key: there is no public key in " + home +
                                     "/.ssh: make one with ssh-keygen -t ed25519");
}

std::vector<std::string> distributeKey(const KeySettings& settings) {
  std::vector<std::string> failures;
  std::vector<Refusal> to_try;
  for (const Refusal& refusal : hostsThatRefuse(settings)) {
    if (wantsPassword(refusal)) {
      to_try.push_back(refusal);
    } else {
      failures.push_back(refusal.host + ": " + refusal.why);
    }
  }
  if (to_try.empty()) return failures;
  const Result<std::string> key = publicKeyPath(settings.home);
  if (!key.ok()) {
    failures.push_back(key.status().message());
    return failures;
  }
  for (const Refusal& refusal : to_try) {
    if (std::string failure = tried(settings, key.value(), refusal); !failure.empty()) {
      failures.push_back(std::move(failure));
    }
  }
  return failures;
}

}  // namespace pop
