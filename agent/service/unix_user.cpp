// SPDX-License-Identifier: Apache-2.0
#include "agent/service/unix_user.h"

#include <pwd.h>

#include <cerrno>
#include <vector>

#include "common/base/text.h"

namespace pop::agent {
namespace {

constexpr std::size_t kFirstBytes = 1024;
constexpr std::size_t kMostBytes = 1 << 20;

// `ask(entry, buffer, found)` is getpwnam_r or getpwuid_r.
template <typename Ask>
Result<UnixUser> lookUp(const std::string& who, Ask ask) {
  for (std::size_t bytes = kFirstBytes; bytes <= kMostBytes; bytes *= 2) {
    std::vector<char> buffer(bytes);
    passwd entry{};
    passwd* found = nullptr;
    const int error = ask(entry, buffer, &found);
    if (error == ERANGE) continue;
    if (found != nullptr)
      return UnixUser{entry.pw_name, entry.pw_uid, entry.pw_gid, entry.pw_dir, entry.pw_shell};
    if (error == 0 || error == ENOENT || error == ESRCH)
      return Status(Code::kNotFound, "this host has no user " + who);
    return errnoStatus("looking up user " + who, error);
  }
  return errnoStatus("looking up user " + who, ERANGE);
}

}  // namespace

Result<UnixUser> lookUpUser(const std::string& name) {
  return lookUp(inQuotes(name), [&](passwd& entry, std::vector<char>& buffer, passwd** found) {
    return ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), found);
  });
}

Result<UnixUser> lookUpUser(uid_t uid) {
  return lookUp(std::to_string(uid), [&](passwd& entry, std::vector<char>& buffer, passwd** found) {
    return ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), found);
  });
}

}  // namespace pop::agent
