// SPDX-License-Identifier: Apache-2.0
// Forks of a process with several threads. AddressSanitizer's locks, unlike malloc's, stay held in a child if
// another thread was inside one, so a child that allocates might hang.
#pragma once

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace popdist::testing {

/// True if all threads of this process but the calling one sleep, or have just ended.
inline bool othersSleep() {
  const std::string own = std::to_string(::gettid());
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == own) continue;
    std::string stat;
    std::getline(std::ifstream(task.path() / "stat"), stat);
    const std::size_t name_end = stat.rfind(')');
    if (name_end != std::string::npos && stat[name_end + 2] != 'S') return false;
  }
  return true;
}

/// Calls fork(2) once all other threads sleep. Throws where one does not within 20 s.
inline pid_t forkAtRest() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!othersSleep()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("other threads do not come to rest");
    std::this_thread::yield();
  }
  return ::fork();
}

}  // namespace popdist::testing
