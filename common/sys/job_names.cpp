// SPDX-License-Identifier: Apache-2.0
#include "common/sys/job_names.h"

#include <sys/random.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "common/base/check.h"
#include "common/sys/random_name.h"

namespace pop {

std::string randomKey() {
  std::string key(16, '\0');
  POP_CHECK(::getrandom(key.data(), key.size(), 0) == static_cast<ssize_t>(key.size()));
  return key;
}

std::string freshDirectory() {
  const char* const temporary = std::getenv("TMPDIR");
  const std::string parent = temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
  std::error_code ignored;
  return std::filesystem::absolute(parent + "/poprun-" + sys::randomName(), ignored);
}

}  // namespace pop
