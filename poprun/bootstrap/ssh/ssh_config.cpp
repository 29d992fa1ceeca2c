// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_config.h"

#include <glob.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <sstream>
#include <utility>

#include "common/base/text.h"
#include "common/sys/fd.h"
#include "poprun/bootstrap/ssh/ssh_patterns.h"

namespace pop {
namespace {

constexpr int kMaxIncludes = 16;

constexpr const char* kSystemConfig = "/etc/ssh/ssh_config";

// Keywords that libssh 0.10 does not support, or only in part.
constexpr std::array<std::string_view, 15> kForTheProgram{
    "proxyjump",      "proxycommand",        "proxyusefdpass",       "hostkeyalias",    "certificatefile",
    "pkcs11provider", "securitykeyprovider", "canonicalizehostname", "addressfamily",   "knownhostscommand",
    "bindinterface",  "localcommand",        "bindaddress",          "revokedhostkeys", "rekeylimit"};

constexpr std::array<std::string_view, 6> kAlgorithms{
    "ciphers", "macs", "kexalgorithms", "hostkeyalgorithms", "pubkeyacceptedalgorithms", "compression"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& keywords, std::string_view keyword) {
  return std::find(keywords.begin(), keywords.end(), keyword) != keywords.end();
}

// Whether it contains a token that ssh would replace by a value unknown to us.
bool isComposed(std::string_view value) {
  return value.find('%') != std::string_view::npos || value.find("${") != std::string_view::npos;
}

// Words of a line: blanks or one '=' after the keyword; double quotes keep blanks.
std::vector<std::string> wordsOf(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false, any = false;
  for (const char each : line) {
    const bool between =
        !quoted && (each == ' ' || each == '\t' || (each == '=' && words.size() + (any ? 1 : 0) == 1));
    if (each == '"') {
      quoted = !quoted;
      any = true;
    } else if (between) {
      if (any) words.push_back(std::exchange(word, {}));
      any = false;
    } else {
      word += each;
      any = true;
    }
  }
  if (any) words.push_back(word);
  return words;
}

class Scanner {
 public:
  Scanner(std::string_view host, std::string_view user, const std::string& home, const SshConfigReader& read)
      : host_(host), user_(user), home_(home), read_(read) {}

  void scan(const std::string& file) {
    include_directory_ = file == kSystemConfig ? "/etc/ssh" : home_ + "/.ssh";
    scanFile(file, 0);
  }
  SshHostConfig result() { return std::move(result_); }

 private:
  void scanFile(const std::string& path, int depth) {
    if (depth > kMaxIncludes) return;
    for (const std::string& text : read_(path)) scanText(text, depth);
  }

  void scanText(const std::string& text, int depth) {
    const bool applied = applies_;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const std::string_view content = trimmed(line);
      if (content.empty() || content.front() == '#') continue;
      const std::vector<std::string> words = wordsOf(content);
      if (words.size() > 1) scanLine(words, depth);
    }
    applies_ = applied;  // a Host block ends with its file
  }

  void scanLine(const std::vector<std::string>& words, int depth) {
    const std::string keyword = lowerCase(words[0]);
    if (keyword == "host") {
      std::string patterns;
      for (std::size_t i = 1; i < words.size(); ++i) patterns += words[i] + ' ';
      applies_ = matchesSshPatterns(host_, patterns);
    } else if (keyword == "match") {
      applies_ = matches(words);
    } else if (applies_ && keyword == "include") {
      for (std::size_t i = 1; i < words.size(); ++i) scanFile(includePath(words[i]), depth + 1);
    } else if (applies_) {
      take(keyword, words);
    }
  }

  // `Host` matches the name as the user wrote it; `Match host` matches the name as replaced by HostName so
  // far.
  std::string nameFor(const std::string& criterion) const {
    const bool is_replaced = criterion == "host" && !result_.host_name.empty();
    return is_replaced ? result_.host_name : host_;
  }

  // If only the ssh program can evaluate a criterion, that program reaches the host.
  bool matches(const std::vector<std::string>& words) {
    bool all = true;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string criterion = lowerCase(words[i]);
      if (criterion == "all") continue;
      const bool is_user = criterion == "user";
      const std::string& user = user_.empty() ? result_.user : user_;
      if ((criterion == "host" || criterion == "originalhost" || (is_user && !user.empty())) &&
          i + 1 < words.size()) {
        all = all && matchesSshPatterns(is_user ? user : nameFor(criterion), words[++i]);
      } else if (all) {
        need("Match " + words[i]);
        return false;
      } else {
        return false;
      }
    }
    return all;
  }

  void take(std::string keyword, const std::vector<std::string>& words) {
    if (keyword == "identityfile") return takeIdentity(words[1]);
    if (keyword == "pubkeyacceptedkeytypes") keyword = "pubkeyacceptedalgorithms";  // as it was called before
    if (!seen_.insert(keyword).second) return;                                      // the first value counts
    const std::string value = lowerCase(words[1]);
    if (keyword == "hostname") {
      takeHostName(words[1]);
    } else if (keyword == "user") {
      result_.user = words[1];
    } else if (keyword == "port") {
      takePort(words[1]);
    } else if (keyword == "identitiesonly") {
      result_.identities_only = value == "yes";
    } else if (keyword == "identityagent") {
      takeAgent(words[1]);
    } else if (keyword == "stricthostkeychecking") {
      if (value == "accept-new") result_.host_keys = HostKeyPolicy::kAcceptNew;
      if (value == "no" || value == "off") result_.host_keys = HostKeyPolicy::kOff;
    } else if (keyword == "userknownhostsfile") {
      takeKnownHosts(words, result_.known_hosts_file);
    } else if (keyword == "globalknownhostsfile") {
      takeKnownHosts(words, result_.global_known_hosts_file);
    } else if (contains(kAlgorithms, keyword)) {
      result_.algorithms.emplace_back(keyword, words[1]);
    } else if (contains(kForTheProgram, keyword)) {
      const bool harmless = value == "none" || value == "no" || value == "any" || value == "default";
      if (!harmless) need(words[0]);
      if (keyword == "proxyjump" || keyword == "proxycommand") seen_.insert({"proxyjump", "proxycommand"});
    }
  }

  void takeHostName(const std::string& value) {
    std::string name;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i] != '%') {
        name += value[i];
      } else if (++i < value.size() && (value[i] == 'h' || value[i] == '%')) {
        name += value[i] == 'h' ? host_ : "%";
      } else {
        return need("HostName " + value);
      }
    }
    result_.host_name = name;
  }

  void takePort(const std::string& value) {
    const Result<std::int64_t> port = parseInteger(value);
    if (!port.ok() || port.value() < 1 || port.value() > 65535) return need("Port " + value);
    result_.port = static_cast<int>(port.value());
  }

  void takeIdentity(const std::string& value) {
    if (lowerCase(value) == "none") return;
    const std::string path = expanded(value);
    if (isComposed(path)) return need("IdentityFile " + value);
    result_.identity_files.push_back(path);
  }

  void takeKnownHosts(const std::vector<std::string>& words, std::string& file) {
    if (words.size() > 2) return need(words[0] + " with several files");
    file = lowerCase(words[1]) == "none" ? "/dev/null" : expanded(words[1]);
    if (isComposed(file)) need(words[0] + ' ' + words[1]);
  }

  void takeAgent(const std::string& value) {
    const std::string path = expanded(value);
    if (isComposed(path)) return need("IdentityAgent " + value);
    if (value != "SSH_AUTH_SOCK") result_.identity_agent = path;
  }

  void need(const std::string& keyword) {
    if (result_.needs_program.empty()) result_.needs_program = keyword;
  }

  std::string expanded(std::string_view path) const {
    if (path.starts_with("~/")) return home_ + std::string(path.substr(1));
    if (path.starts_with("%d/")) return home_ + std::string(path.substr(2));
    return std::string(path);
  }

  std::string includePath(std::string_view path) const {
    if (path.starts_with("/") || path.starts_with("~")) return expanded(path);
    return include_directory_ + '/' + std::string(path);
  }

  std::string host_;
  std::string user_;
  std::string home_;
  const SshConfigReader& read_;
  std::string include_directory_;  ///< for relative ones
  bool applies_ = true;
  std::set<std::string> seen_;
  SshHostConfig result_;
};

// ssh refuses to read such a file of a user.
bool othersMayWrite(const std::string& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 &&
         ((status.st_uid != 0 && status.st_uid != ::getuid()) || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0);
}

// Reads files, and records the name of one that ssh would refuse. Files that the user named and the system's
// file are read whoever owns them.
class Reader {
 public:
  explicit Reader(std::string named) : named_(std::move(named)) {}

  std::vector<std::string> textsOf(const std::string& pattern) {
    std::vector<std::string> texts;
    glob_t found{};
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc; ++i) {
        const std::string file = found.gl_pathv[i];
        if (file != named_ && file != kSystemConfig && othersMayWrite(file)) refused_ = file;
        if (Result<std::string> text = sys::readFile(file); text.ok()) texts.push_back(text.value());
      }
    }
    ::globfree(&found);
    return texts;
  }
  const std::string& refused() const { return refused_; }

 private:
  const std::string named_;
  std::string refused_;
};

}  // namespace

SshHostConfig readSshConfig(std::string_view host, std::string_view user,
                            const std::vector<std::string>& files, const std::string& home,
                            const SshConfigReader& read) {
  Scanner scanner(host, user, home, read);
  for (const std::string& file : files) scanner.scan(file);
  return scanner.result();
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

SshHostConfig sshConfigOf(std::string_view host, std::string_view user, const std::string& config_file) {
  const std::string home = sshHome();
  const std::vector<std::string> files = config_file.empty()
                                             ? std::vector<std::string>{home + "/.ssh/config", kSystemConfig}
                                             : std::vector<std::string>{config_file};
  Reader reader(config_file);
  SshHostConfig config = readSshConfig(host, user, files, home,
                                       [&](const std::string& pattern) { return reader.textsOf(pattern); });
  if (!reader.refused().empty()) config.needs_program = reader.refused() + ", which other users can write";
  // ssh automatically presents a certificate next to a key file; libssh does not.
  for (const std::string& file :
       config.identity_files.empty() ? usualIdentityFiles() : config.identity_files) {
    const std::string certificate = file + "-cert.pub";
    if (config.needs_program.empty() && ::access(certificate.c_str(), F_OK) == 0)
      config.needs_program = certificate;
  }
  return config;
}

std::vector<std::string> usualIdentityFiles() {
  const std::string directory = sshHome() + "/.ssh/";
  return {directory + "id_ed25519", directory + "id_ecdsa", directory + "id_rsa"};
}

}  // namespace pop
