// SPDX-License-Identifier: Apache-2.0
#include "common/sys/threads.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "common/base/text.h"

namespace pop::sys {

std::vector<pid_t> threadsOf(pid_t pid) {
  namespace fs = std::filesystem;
  std::vector<pid_t> threads;
  std::error_code error;  // the process may go at any moment
  fs::directory_iterator entry("/proc/" + std::to_string(pid) + "/task", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const Result<std::int64_t> thread = parseInteger(entry->path().filename().string());
    if (thread.ok()) threads.push_back(static_cast<pid_t>(thread.value()));
  }
  return threads;
}

}  // namespace pop::sys
