// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/local_controller.h"

#include <csignal>
#include <utility>

#include "common/sys/random_name.h"
#include "poprun/session/job_names.h"

namespace pop {

Status LocalController::submit(model::JobSpec spec, JobWatch watch) {
  POP_ASSIGN_OR_RETURN(CacheDirectory cache, cacheDirectory(spec.executable_cache_path));
  if (cache.fresh) agent_.removeAtEnd(cache.path);
  spec.executable_cache_path = std::move(cache.path);
  job_ = std::make_unique<Job>(loop_, JobIdentity{sys::randomName(), randomKey()}, std::move(spec),
                               std::vector<Agent*>{&agent_}, std::move(watch));
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
