// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/known_hosts.h"

#include <libssh/libssh.h>

#include <memory>
#include <optional>
#include <sstream>
#include <string_view>

#include "common/base/text.h"
#include "common/sys/fd.h"

namespace pop {
namespace {

constexpr std::string_view kRevoked = "@revoked";

struct FreeEntry {
  void operator()(ssh_knownhosts_entry* entry) const { ssh_knownhosts_entry_free(entry); }
};

// Whether the line's key is `key`; nothing: it is about other hosts, or no line.
std::optional<bool> hasKey(std::string_view line, const std::string& name, ssh_key_struct* key) {
  ssh_knownhosts_entry* found = nullptr;
  if (ssh_known_hosts_parse_line(name.c_str(), std::string(line).c_str(), &found) != SSH_OK) return {};
  const std::unique_ptr<ssh_knownhosts_entry, FreeEntry> entry(found);
  return ssh_key_cmp(entry->publickey, key, SSH_KEY_CMP_PUBLIC) == 0;
}

// What one file's lines say together. A line that is damaged says nothing, as for ssh.
KnownAs judge(const std::string& text, const std::string& name, ssh_key_struct* key) {
  KnownAs known = KnownAs::kUnknown;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view content = trimmed(line);
    if (content.empty() || content.front() == '#') continue;
    if (content.starts_with(kRevoked)) {
      if (hasKey(trimmed(content.substr(kRevoked.size())), name, key) == true) return KnownAs::kRevoked;
      continue;
    }
    if (content.front() == '@') continue;
    const std::optional<bool> is_this = hasKey(content, name, key);
    if (is_this && known != KnownAs::kThisKey) known = *is_this ? KnownAs::kThisKey : KnownAs::kOtherKeys;
  }
  return known;
}

}  // namespace

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

}  // namespace pop
