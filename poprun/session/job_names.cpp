// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/job_names.h"

#include <sys/random.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "common/sys/random_name.h"

namespace pop {
namespace {

// Instances may run in other directories than we do.
std::string absolute(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored);
}

const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

std::string randomKey() {
  std::string key(16, '\0');
  POP_CHECK(::getrandom(key.data(), key.size(), 0) == static_cast<ssize_t>(key.size()));
  return key;
}

Result<CacheDirectory> cacheDirectory(const std::string& chosen) {
  if (!chosen.empty()) {
    std::error_code error;
    const std::string path = absolute(chosen);
    std::filesystem::create_directories(path, error);
    if (error) return errnoStatus("--executable-cache-path " + chosen, error.value());
    return CacheDirectory{path};
  }
  if (const char* const set = variable("POPDIST_EXECUTABLE_CACHE_PATH")) return CacheDirectory{set};
  const char* const temporary = variable("TMPDIR");
  return CacheDirectory{
      absolute(std::string(temporary != nullptr ? temporary : "/tmp") + "/poprun-" + sys::randomName()),
      true};
}

}  // namespace pop
