// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/local_controller.h"

#include <sys/random.h>

#include <cstdio>
#include <cstdlib>
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

}  // namespace

Status LocalController::submit(model::JobSpec spec, Watch watch) {
  const std::string id = randomName();
  if (const char* chosen = std::getenv("POPDIST_EXECUTABLE_CACHE_PATH");
      chosen != nullptr && *chosen != '\0') {
    spec.executable_cache_path = chosen;
  } else {
    POP_ASSIGN_OR_RETURN(spec.executable_cache_path, agent_.makeJobDirectory(randomName()));
  }
  job_ = std::make_unique<Job>(loop_, id, std::move(spec), std::vector<Agent*>{&agent_},
                               std::move(watch.event), std::move(watch.done));
  job_->start();
  return {};
}

void LocalController::stop(int user_signal) {
  if (job_) job_->stop(user_signal);
}

}  // namespace pop
