// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh_words.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string_view>

#include "common/base/text.h"
#include "common/os/helper_run.h"

namespace pop {
namespace {

constexpr std::chrono::seconds kDefaultsTimeout{10};

constexpr std::array<const char*, 7> kUnlikeLogins{
    "RemoteCommand=none", "ClearAllForwardings=yes", "ForwardX11=no",   "RequestTTY=no",
    "Tunnel=no",          "PermitLocalCommand=no",   "ControlMaster=no"};

// Since OpenSSH 8.7; an older one refuses to start.
constexpr std::array<const char*, 3> kNewerUnlikeLogins{"SessionType=default", "StdinNull=no",
                                                        "ForkAfterAuthentication=no"};

bool knows(const std::set<std::string>& defaults, std::string_view setting) {
  const std::string line = lowerCase(setting.substr(0, setting.find('='))) + ' ';
  const auto at = defaults.lower_bound(line);
  return at != defaults.end() && at->starts_with(line);
}

}  // namespace

bool isSsh(const std::string& program) {
  return program.substr(program.rfind('/') + 1) == "ssh";
}

const std::set<std::string>& sshDefaults(const std::string& program) {
  static std::mutex mutex;
  static std::map<std::string, std::set<std::string>> known;
  const std::scoped_lock lock(mutex);
  const auto [entry, is_new] = known.try_emplace(program);
  if (!is_new) return entry->second;
  const Result<std::string> said = os::outputOf({program, "-F", "/dev/null", "-G", "host"}, kDefaultsTimeout);
  if (said.ok()) {
    for (std::string& line : split(said.value(), '\n')) entry->second.insert(std::move(line));
  }
  return entry->second;
}

std::vector<std::string> unlikeLogins(const std::string& program) {
  std::vector<std::string> settings(kUnlikeLogins.begin(), kUnlikeLogins.end());
  const std::set<std::string>& defaults = sshDefaults(program);
  std::copy_if(kNewerUnlikeLogins.begin(), kNewerUnlikeLogins.end(), std::back_inserter(settings),
               [&](const char* setting) { return knows(defaults, setting); });
  return settings;
}

std::vector<std::string> withoutQuestions(const std::string& program, std::chrono::seconds connect_timeout) {
  std::vector<std::string> settings{"BatchMode=yes",
                                    "ConnectTimeout=" + std::to_string(connect_timeout.count())};
  for (std::string& setting : unlikeLogins(program)) settings.push_back(std::move(setting));
  return settings;
}

void addSettings(std::vector<std::string>& words, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) words.insert(words.end(), {"-o", setting});
}

}  // namespace pop
