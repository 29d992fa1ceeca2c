// SPDX-License-Identifier: Apache-2.0
#include "common/sys/own_program.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <string_view>

namespace pop::sys {

std::string ownProgram(const std::string& name) {
  std::array<char, PATH_MAX> self{};
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size());
  return programOf({self.data(), length > 0 ? static_cast<std::size_t>(length) : 0}, name);
}

std::string programOf(const std::string& self, const std::string& name) {
  constexpr std::string_view kLibexec = "/libexec/poprun";
  const std::string directory = self.substr(0, self.rfind('/'));
  const std::string beside = directory + '/' + name;
  const bool in_libexec = directory.ends_with(kLibexec);
  const std::string prefix =
      directory.substr(0, in_libexec ? directory.size() - kLibexec.size() : directory.rfind('/'));
  const std::string elsewhere = prefix + (in_libexec ? "/bin" : std::string(kLibexec)) + '/' + name;
  if (in_libexec && ::access(beside.c_str(), X_OK) == 0) return beside;
  return ::access(elsewhere.c_str(), X_OK) == 0 ? elsewhere : beside;
}

}  // namespace pop::sys
