// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/local_controller.h"

#include <sys/random.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace pop {
namespace {

// Names a job among all others. Two of them: what is seen in the file system must not tell the name of the
// socket before that is ours.
std::string randomName() {
  unsigned long long bits = 0;
  POP_CHECK(::getrandom(&bits, sizeof(bits), 0) == sizeof(bits));
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", bits);
  return text;
}

// Instances may run in other directories than we do.
Result<std::string> chosenDirectory(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (!error) std::filesystem::create_directories(absolute, error);
  if (error) return errnoStatus("--executable-cache-path " + path, error.value());
  return absolute.string();
}

}  // namespace

Status LocalController::submit(model::JobSpec spec, JobWatch watch) {
  if (spec.executable_cache_path.empty()) {
    spec.executable_cache_path = cacheDirectory();
  } else {
    POP_ASSIGN_OR_RETURN(spec.executable_cache_path, chosenDirectory(spec.executable_cache_path));
  }
  job_ = std::make_unique<Job>(loop_, randomName(), std::move(spec), std::vector<Agent*>{&agent_},
                               std::move(watch));
  job_->start();
  return {};
}

// The user's, else a fresh one.
std::string LocalController::cacheDirectory() {
  const char* chosen = std::getenv("POPDIST_EXECUTABLE_CACHE_PATH");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  return agent_.nameJobDirectory(randomName());
}

void LocalController::signal(int signal) {
  if (job_) job_->signal(signal);
}

void LocalController::stop(int user_signal) {
  if (job_) job_->stop(user_signal);
}

}  // namespace pop
