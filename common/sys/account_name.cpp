// SPDX-License-Identifier: Apache-2.0
#include "common/sys/account_name.h"

#include <pwd.h>

#include <array>

namespace pop::sys {

std::optional<std::string> accountName(uid_t user) {
  std::array<char, 16384> memory{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(user, &entry, memory.data(), memory.size(), &found);
  if (found == nullptr || *found->pw_name == '\0') return std::nullopt;
  return found->pw_name;
}

std::string userText(uid_t user) {
  const std::optional<std::string> name = accountName(user);
  return name ? *name + " (" + std::to_string(user) + ')' : std::to_string(user);
}

}  // namespace pop::sys
