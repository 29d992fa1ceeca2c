// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_config.h"

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "common/base/text.h"
#include "common/os/helper_run.h"
#include "common/sys/fd.h"
#include "poprun/bootstrap/ssh_words.h"

namespace pop {
namespace {

// Settings that change nothing of what libssh does for us: they are about logins by hand, other ways to log
// in, what is sent along, or how long to wait, which poprun's own options say.
constexpr std::array kNotForUs{"addkeystoagent",
                               "batchmode",
                               "canonicaldomains",
                               "canonicalizefallbacklocal",
                               "canonicalizemaxdots",
                               "canonicalizepermittedcnames",
                               "casignaturealgorithms",
                               "channeltimeout",
                               "clearallforwardings",
                               "connectionattempts",
                               "connecttimeout",
                               "controlmaster",
                               "controlpersist",
                               "dynamicforward",
                               "enableescapecommandline",
                               "enablesshkeysign",
                               "escapechar",
                               "exitonforwardfailure",
                               "fingerprinthash",
                               "forkafterauthentication",
                               "forwardagent",
                               "forwardx11",
                               "forwardx11timeout",
                               "forwardx11trusted",
                               "gatewayports",
                               "gssapidelegatecredentials",
                               "gssapikexalgorithms",
                               "gssapirenewalforcesrekey",
                               "gssapitrustdns",
                               "hashknownhosts",
                               "host",
                               "hostbasedacceptedalgorithms",
                               "ipqos",
                               "kbdinteractiveauthentication",
                               "kbdinteractivedevices",
                               "localcommand",
                               "localforward",
                               "loglevel",
                               "logverbose",
                               "numberofpasswordprompts",
                               "obscurekeystroketiming",
                               "passwordauthentication",
                               "permitlocalcommand",
                               "permitremoteopen",
                               "proxyusefdpass",
                               "remotecommand",
                               "remoteforward",
                               "requesttty",
                               "sendenv",
                               "serveralivecountmax",
                               "serveraliveinterval",
                               "sessiontype",
                               "setenv",
                               "stdinnull",
                               "streamlocalbindmask",
                               "streamlocalbindunlink",
                               "syslogfacility",
                               "tag",
                               "tcpkeepalive",
                               "tunnel",
                               "tunneldevice",
                               "updatehostkeys",
                               "visualhostkey",
                               "xauthlocation"};

// Settings that libssh follows anyway.
constexpr std::array kAsLibssh{"addressfamily any",
                               "canonicalizehostname false",
                               "checkhostip no",
                               "gssapikeyexchange no",
                               "nohostauthenticationforlocalhost no",
                               "pubkeyauthentication true",
                               "rekeylimit 0 0",
                               "requiredrsasize 1024",
                               "securitykeyprovider internal",
                               "verifyhostkeydns false"};

constexpr std::array kAlgorithms{"ciphers",           "macs",        "kexalgorithms",
                                 "hostkeyalgorithms", "compression", "pubkeyacceptedalgorithms"};

// The key files that ssh tries where none is named; it prints all that it knows of.
constexpr std::array kUsualKeys{"~/.ssh/id_rsa",     "~/.ssh/id_ecdsa",      "~/.ssh/id_ecdsa_sk",
                                "~/.ssh/id_ed25519", "~/.ssh/id_ed25519_sk", "~/.ssh/id_xmss",
                                "~/.ssh/id_dsa"};
constexpr std::size_t kFewestUsualKeys = 4;

constexpr std::chrono::milliseconds kForAProcess{1000};
constexpr int kTriesForAProcess = 50;
constexpr const char* kProcessLimit = " (see `ulimit -u`, and pids.max of poprun's cgroup)";

template <std::size_t N>
bool contains(const std::array<const char*, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// libssh takes a user out of "user@host"; other characters are for ssh to refuse.
bool isPlainHost(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char each) {
    return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
           std::string_view(".:-_%").find(each) != std::string_view::npos;
  });
}

class Answer {
 public:
  Answer(const std::string& home, const std::function<const std::set<std::string>&()>& defaults)
      : home_(home), defaults_(defaults) {}

  void take(const std::string& line) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) return;
    const std::string keyword = lowerCase(line.substr(0, blank));
    const std::string value = line.substr(blank + 1);
    if (contains(kNotForUs, keyword) || contains(kAsLibssh, line) || takeAddress(keyword, value) ||
        takeLogin(keyword, value) || takeHostKeys(keyword, value))
      return;
    if (contains(kAlgorithms, keyword)) {
      config_.algorithms.emplace_back(keyword, value);
    } else if (defaults_().count(line) == 0) {
      need(keyword);
    }
  }

  SshHostConfig result() {
    const bool usual =
        keys_.size() >= kFewestUsualKeys &&
        std::all_of(keys_.begin(), keys_.end(), [](auto& key) { return contains(kUsualKeys, key); });
    for (const std::string& key : usual ? std::vector<std::string>{} : keys_) {
      if (lowerCase(key) != "none") config_.identity_files.push_back(path("identityfile", key));
    }
    if (config_.host_name.empty() || config_.known_hosts.empty() || config_.system_known_hosts.empty())
      need("an answer of ssh -G that is not known");
    return std::move(config_);
  }

 private:
  bool takeAddress(const std::string& keyword, const std::string& value) {
    if (keyword == "hostname") {
      config_.host_name = value;
      if (!isPlainHost(value)) need("hostname " + value);
    } else if (keyword == "user") {
      config_.user = value;
      if (isComposed(value)) need("user " + value);
    } else if (keyword == "port") {
      const Result<std::int64_t> port = parseInteger(value);
      if (!port.ok() || port.value() < 1 || port.value() > 65535) need("port " + value);
      if (port.ok()) config_.port = static_cast<int>(port.value());
    } else {
      return false;
    }
    return true;
  }

  bool takeLogin(const std::string& keyword, const std::string& value) {
    if (keyword == "identityfile") {
      keys_.push_back(value);
    } else if (keyword == "identitiesonly") {
      config_.identities_only = value == "yes";
    } else if (keyword == "identityagent") {
      if (value != "SSH_AUTH_SOCK")
        config_.identity_agent =
            value.starts_with('$') && !value.starts_with("${") ? value : path(keyword, value);
    } else if (keyword == "hostbasedauthentication" || keyword == "gssapiauthentication") {
      if (value == "yes") config_.logins.insert(keyword.substr(0, keyword.find("authentication")));
    } else if (keyword == "controlpath") {
      config_.shares_connections = value != "none";
    } else if (keyword == "preferredauthentications") {
      if ((',' + value + ',').find(",publickey,") == std::string::npos) need(keyword + ' ' + value);
    } else {
      return false;
    }
    return true;
  }

  bool takeHostKeys(const std::string& keyword, const std::string& value) {
    if (keyword == "stricthostkeychecking") {
      if (value == "accept-new") config_.host_keys = HostKeyPolicy::kAcceptNew;
      if (value == "no" || value == "off" || value == "false") config_.host_keys = HostKeyPolicy::kOff;
    } else if (keyword == "userknownhostsfile") {
      config_.known_hosts = files(keyword, value, "~/.ssh/known_hosts ~/.ssh/known_hosts2");
    } else if (keyword == "globalknownhostsfile") {
      config_.system_known_hosts =
          files(keyword, value, "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2");
    } else {
      return false;
    }
    return true;
  }

  // ssh prints several files with blanks between them, and does not quote: one name with a blank looks the
  // same.
  std::vector<std::string> files(const std::string& keyword, const std::string& value,
                                 const std::string& usual) {
    const std::string first = usual.substr(0, usual.find(' '));
    const std::string second = usual.substr(usual.find(' ') + 1);
    const std::string at_home = inHome(first) + ' ' + inHome(second);
    if (value == usual || value == at_home) return {inHome(first), inHome(second)};
    if (lowerCase(value) == "none") return {"/dev/null"};
    if (value.find(' ') != std::string::npos) need(keyword + ' ' + value);
    return {path(keyword, value)};
  }

  // True if ssh will replace a token in it when it connects.
  static bool isComposed(std::string_view value) {
    return value.find('%') != std::string_view::npos || value.find("${") != std::string_view::npos;
  }

  std::string inHome(const std::string& path) const {
    return path.starts_with("~/") ? home_ + path.substr(1) : path;
  }

  std::string path(const std::string& keyword, const std::string& value) {
    const std::string path = inHome(value);
    if (isComposed(path) || path.starts_with('~')) need(keyword + ' ' + value);
    return path;
  }

  void need(const std::string& setting) {
    if (config_.needs_program.empty()) config_.needs_program = setting;
  }

  const std::string& home_;
  const std::function<const std::set<std::string>&()>& defaults_;
  std::vector<std::string> keys_;
  SshHostConfig config_;
};

// The configuration if ssh is not installed and nothing is configured either.
std::optional<SshHostConfig> withoutSsh(const SshTarget& target, const SshOptions& options) {
  const std::string home = sshHome();
  if (!options.config_file.empty() || ::access((home + "/.ssh/config").c_str(), F_OK) == 0 ||
      ::access("/etc/ssh/ssh_config", F_OK) == 0)
    return {};
  SshHostConfig config{.host_name = target.host, .user = target.user.empty() ? options.user : target.user};
  if (const int port = target.port != 0 ? target.port : options.port; port != 0) config.port = port;
  config.known_hosts = {home + "/.ssh/known_hosts"};
  config.system_known_hosts = {"/etc/ssh/ssh_known_hosts"};
  return config;
}

// ssh presents a certificate beside a key by itself; libssh does not.
std::string certificateOf(const SshHostConfig& config) {
  for (const std::string& file :
       config.identity_files.empty() ? usualIdentityFiles() : config.identity_files) {
    const std::string certificate = file + "-cert.pub";
    if (::access(certificate.c_str(), F_OK) == 0) return certificate;
  }
  return {};
}

std::string inOneLine(const std::string& errors) {
  std::vector<std::string> lines;
  for (const std::string& line : split(errors, '\n')) {
    if (!trimmed(line).empty()) lines.push_back(printable(trimmed(line)));
  }
  return join(lines, "; ");
}

// Retries if the system allows us no more processes: others of ours end soon.
Result<std::string> outputOf(const std::vector<std::string>& command, const Wait& wait) {
  for (Wait::Clock::duration waited{};; waited += kForAProcess / kTriesForAProcess) {
    Result<std::string> output =
        os::outputOf(command, std::chrono::ceil<std::chrono::milliseconds>(wait.left()),
                     sys::Fd(::fcntl(wait.cancellation().fd(), F_DUPFD_CLOEXEC, 0)));
    if (output.code() != Code::kResourceExhausted) return output;
    if (waited >= kForAProcess) return Status(output.code(), output.status().message() + kProcessLimit);
    POP_RETURN_IF_ERROR(wait.pause(kForAProcess / kTriesForAProcess));
  }
}

}  // namespace

SshHostConfig sshConfigFrom(std::string_view answer, const std::string& home,
                            const std::function<const std::set<std::string>&()>& defaults) {
  Answer settings(home, defaults);
  for (const std::string& line : split(answer, '\n')) settings.take(line);
  return settings.result();
}

Result<SshHostConfig> sshConfigOf(const SshTarget& target, const SshOptions& options, const Wait& wait) {
  const std::string& user = target.user.empty() ? options.user : target.user;
  const int port = target.port != 0 ? target.port : options.port;
  // With a command, as all that we run: without one, ssh refuses some settings of logins.
  std::vector<std::string> command{kSshProgram, "-G", "-o", "RemoteCommand=none"};
  if (!options.config_file.empty()) command.insert(command.end(), {"-F", options.config_file});
  if (!user.empty()) command.insert(command.end(), {"-l", user});
  if (port != 0) command.insert(command.end(), {"-p", std::to_string(port)});
  command.insert(command.end(), {target.host, "true"});
  const Result<std::string> answer = outputOf(command, wait);
  if (answer.code() == Code::kNotFound) {
    if (std::optional<SshHostConfig> config = withoutSsh(target, options)) return *std::move(config);
  }
  if (!answer.ok()) {
    return Status(answer.code(), inOneLine(answer.status().message()))
        .during("reading its SSH configuration (ssh -G)");
  }
  SshHostConfig config = sshConfigFrom(
      answer.value(), sshHome(), []() -> auto& { return sshDefaults(kSshProgram); });
  if (config.needs_program.empty()) config.needs_program = certificateOf(config);
  return config;
}

std::string sshHome() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16 << 10> buffer;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_dir;
  }
  const char* home = std::getenv("HOME");
  return home != nullptr ? home : "";
}

std::vector<std::string> usualIdentityFiles() {
  const std::string directory = sshHome() + "/.ssh/";
  return {directory + "id_ed25519", directory + "id_ecdsa", directory + "id_rsa"};
}

}  // namespace pop
