// SPDX-License-Identifier: Apache-2.0
#include "controller/local/local_controller.h"

#include <csignal>
#include <utility>

#include "common/sys/job_names.h"
#include "common/sys/random_name.h"

namespace pop {

Status LocalController::submit(model::JobSpec spec, JobWatch watch) {
  if (spec.make_executable_cache)
    POP_RETURN_IF_ERROR(agent::LocalAgent::makeExecutableCache(spec.executable_cache_path));
  if (spec.executable_cache_path.empty()) {
    spec.executable_cache_path = freshDirectory();
    agent_.removeAtEnd(spec.executable_cache_path);
  }
  job_ = std::make_unique<Job>(loop_, JobIdentity{.id = sys::randomName(), .key = randomKey()},
                               std::move(spec), std::vector<Agent*>{&agent_}, std::move(watch));
  job_->start();
  return {};
}

void LocalController::signal(int signal) {
  if (job_) job_->signal(signal);
}

void LocalController::suspend(std::function<void()> stopped) {
  signal(SIGSTOP);
  stopped();
}

void LocalController::stop(int user_signal) {
  if (job_) job_->stop(user_signal);
}

}  // namespace pop
