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
#include "poprun/bootstrap/ssh/ssh_patterns.h"

namespace pop {
namespace {

constexpr std::string_view kRevoked = "@revoked";
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

// `line`: without marker, and without tabs.
Entry entryOf(const std::string& line, const std::string& name) {
  if (line.starts_with(kHashed)) return parsed(line, name.c_str());
  const bool is_about_it = matchesSshPatterns(name, lowerCase(line.substr(0, line.find(' '))));
  return is_about_it ? parsed(line, nullptr) : Entry();
}

using Visit = std::function<void(const ssh_knownhosts_entry& entry, bool revoked)>;

// Evaluates the lines of one file for the host. Damaged lines are ignored, as by ssh.
void visitEntries(const std::string& text, const std::string& name, const Visit& visit) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::replace(line.begin(), line.end(), '\t', ' ');
    std::string_view content = trimmed(line);
    if (content.empty() || content.front() == '#') continue;
    const bool revoked = content.starts_with(kRevoked);
    if (revoked) content = trimmed(content.substr(kRevoked.size()));
    if (content.starts_with('@')) continue;
    if (const Entry entry = entryOf(std::string(content), name)) visit(*entry, revoked);
  }
}

KnownAs judge(const std::string& text, const std::string& name, ssh_key_struct* key) {
  KnownAs known = KnownAs::kUnknown;
  visitEntries(text, name, [&](const ssh_knownhosts_entry& entry, bool revoked) {
    const bool is_this = ssh_key_cmp(entry.publickey, key, SSH_KEY_CMP_PUBLIC) == 0;
    if (known == KnownAs::kRevoked || (revoked && !is_this)) return;
    if (revoked) {
      known = KnownAs::kRevoked;
    } else if (known != KnownAs::kThisKey) {
      known = is_this ? KnownAs::kThisKey : KnownAs::kOtherKeys;
    }
  });
  return known;
}

}  // namespace

std::string knownName(const std::string& host, int port) {
  const std::string name = lowerCase(host);
  return port == 22 ? name : '[' + name + "]:" + std::to_string(port);
}

Result<KnownKey> findKnownKey(ssh_key_struct* key, const std::string& name,
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

std::vector<std::string> knownKeyTypes(const std::string& name, const std::vector<std::string>& files) {
  std::vector<std::string> types;
  for (const std::string& file : files) {
    const Result<std::string> text = sys::readFile(file);
    if (!text.ok()) continue;  // findKnownKey says so
    visitEntries(text.value(), name, [&types](const ssh_knownhosts_entry& entry, bool revoked) {
      const std::string type = ssh_key_type_to_char(ssh_key_type(entry.publickey));
      if (!revoked && std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
    });
  }
  return types;
}

}  // namespace pop
