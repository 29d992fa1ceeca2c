// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/known_hosts.h"

#include <libssh/libssh.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <sstream>
#include <string_view>

#include "common/base/text.h"
#include "common/sys/fd.h"

namespace pop {
namespace {

constexpr int kSshPort = 22;
constexpr std::string_view kRevokedWord = "@revoked";
constexpr std::string_view kAuthorityWord = "@cert-authority";
constexpr std::string_view kHashed = "|1|";

struct FreeEntry {
  void operator()(ssh_knownhosts_entry* entry) const { ssh_knownhosts_entry_free(entry); }
};
using Entry = std::unique_ptr<ssh_knownhosts_entry, FreeEntry>;

// `name`: nullptr for a line about any host. Nothing: the line is about another host, or damaged.
Entry parsed(const std::string& line, const char* name) {
  ssh_knownhosts_entry* found = nullptr;
  if (ssh_known_hosts_parse_line(name, line.c_str(), &found) != SSH_OK) return {};
  return Entry(found);
}

// `patterns` as in "a*,!ab". ssh has no blanks there.
bool matchesPatterns(std::string_view name, std::string_view patterns) {
  bool matched = false;
  for (const std::string& pattern : split(patterns, ',')) {
    const bool negated = pattern.starts_with('!');
    if (!matchesWildcards(name, negated ? std::string_view(pattern).substr(1) : pattern)) continue;
    if (negated) return false;
    matched = true;
  }
  return matched;
}

// `line`: without marker, and without tabs.
Entry entryOf(const std::string& line, const std::string& name) {
  if (line.starts_with(kHashed)) return parsed(line, name.c_str());
  const bool is_about_it = matchesPatterns(name, lowerCase(line.substr(0, line.find(' '))));
  return is_about_it ? parsed(line, nullptr) : Entry();
}

enum class Marker : std::uint8_t { kNone, kRevoked, kAuthority };
using Visit = std::function<void(const ssh_knownhosts_entry& entry, Marker marker)>;

// Takes the marker from the beginning of a line. False: it is none that ssh knows.
bool takeMarker(std::string_view& line, Marker& marker) {
  marker = Marker::kNone;
  if (!line.starts_with('@')) return true;
  const std::string_view word = line.substr(0, line.find(' '));
  line = trimmed(line.substr(word.size()));
  marker = word == kRevokedWord ? Marker::kRevoked : Marker::kAuthority;
  return word == kRevokedWord || word == kAuthorityWord;
}

// Evaluates the lines of one file for the host. Damaged lines are ignored, as by ssh.
void visitEntries(const std::string& text, const std::string& name, const Visit& visit) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::replace(line.begin(), line.end(), '\t', ' ');
    std::string_view content = trimmed(line);
    if (content.empty() || content.front() == '#') continue;
    Marker marker{};
    if (!takeMarker(content, marker)) continue;
    if (const Entry entry = entryOf(std::string(content), name)) visit(*entry, marker);
  }
}

KnownAs judge(const std::string& text, const std::string& name, ssh_key_struct* key) {
  KnownAs known = KnownAs::kUnknown;
  visitEntries(text, name, [&](const ssh_knownhosts_entry& entry, Marker marker) {
    const bool is_this = ssh_key_cmp(entry.publickey, key, SSH_KEY_CMP_PUBLIC) == 0;
    const bool revoked = marker == Marker::kRevoked;
    if (marker == Marker::kAuthority || known == KnownAs::kRevoked || (revoked && !is_this)) return;
    if (revoked) {
      known = KnownAs::kRevoked;
    } else if (known != KnownAs::kThisKey) {
      known = is_this ? KnownAs::kThisKey : KnownAs::kOtherKeys;
    }
  });
  return known;
}

Result<KnownKey> findUnder(const std::string& name, ssh_key_struct* key,
                           const std::vector<std::string>& files) {
  KnownKey known{.file = files.empty() ? "" : files.front()};
  for (const std::string& file : files) {
    const Result<std::string> text = sys::readFile(file);
    if (text.code() == Code::kNotFound) continue;
    if (!text.ok()) return text.status();
    const KnownAs here = judge(text.value(), name, key);
    if (here == KnownAs::kRevoked) return KnownKey{here, file};
    const bool says_more = known.what != KnownAs::kThisKey && here != KnownAs::kUnknown;
    if (says_more && (known.what == KnownAs::kUnknown || here == KnownAs::kThisKey)) known = {here, file};
  }
  return known;
}

}  // namespace

std::vector<std::string> knownNames(const std::string& host, int port) {
  const std::string name = lowerCase(host);
  if (port == kSshPort) return {name};
  return {'[' + name + "]:" + std::to_string(port), name};
}

// A server at another port may well have another key than the one at port 22: that one makes it known or
// revoked, never a wrong one.
Result<KnownKey> findKnownKey(ssh_key_struct* key, const std::string& host, int port,
                              const std::vector<std::string>& files) {
  const std::vector<std::string> names = knownNames(host, port);
  POP_ASSIGN_OR_RETURN(const KnownKey known, findUnder(names.front(), key, files));
  if (known.what == KnownAs::kRevoked || names.size() == 1) return known;
  POP_ASSIGN_OR_RETURN(const KnownKey without_port, findUnder(names.back(), key, files));
  const bool counts = without_port.what == KnownAs::kRevoked ||
                      (known.what == KnownAs::kUnknown && without_port.what == KnownAs::kThisKey);
  return counts ? without_port : known;
}

std::vector<std::string> knownKeyTypes(const std::string& host, int port,
                                       const std::vector<std::string>& files) {
  std::vector<std::string> types;
  for (const std::string& name : knownNames(host, port)) {
    for (const std::string& file : files) {
      const Result<std::string> text = sys::readFile(file);
      if (!text.ok()) continue;  // findKnownKey says so
      visitEntries(text.value(), name, [&types](const ssh_knownhosts_entry& entry, Marker marker) {
        const std::string type = ssh_key_type_to_char(ssh_key_type(entry.publickey));
        if (marker == Marker::kNone && std::find(types.begin(), types.end(), type) == types.end())
          types.push_back(type);
      });
    }
    if (!types.empty()) return types;
  }
  return types;
}

std::string authorityFile(const std::string& host, int port, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const Result<std::string> text = sys::readFile(file);
    bool found = false;
    for (const std::string& name : text.ok() ? knownNames(host, port) : std::vector<std::string>{}) {
      visitEntries(text.value(), name, [&found](const ssh_knownhosts_entry&, Marker marker) {
        found = found || marker == Marker::kAuthority;
      });
    }
    if (found) return file;
  }
  return {};
}

}  // namespace pop
