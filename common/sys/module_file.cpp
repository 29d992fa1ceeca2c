// SPDX-License-Identifier: Apache-2.0
#include "common/sys/module_file.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <memory>

namespace pop::sys {

std::string fileOfModule(const void* address) {
  Dl_info ignored{};
  void* found = nullptr;
  if (::dladdr1(address, &ignored, &found, RTLD_DL_LINKMAP) == 0) return "";
  const char* const name = static_cast<const link_map*>(found)->l_name;
  const auto release = [](char* text) { std::free(text); };
  const std::unique_ptr<char, decltype(release)> path(
      ::realpath(*name == '\0' ? "/proc/self/exe" : name, nullptr), release);
  return path ? path.get() : "";
}

}  // namespace pop::sys
