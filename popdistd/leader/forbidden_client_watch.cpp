// SPDX-License-Identifier: Apache-2.0
#include "popdistd/leader/forbidden_client_watch.h"

#include <utility>

#include "common/log/log.h"

namespace pop::popdistd {
namespace {

constexpr std::chrono::milliseconds kTryTimeout{2000};

}  // namespace

ForbiddenClientWatch::ForbiddenClientWatch(EtcdClient& etcd, Load load, LetsIn lets_in,
                                           std::chrono::milliseconds every)
    : etcd_(etcd), load_(std::move(load)), lets_in_(std::move(lets_in)), every_(every), thread_([this] {
        run();
      }) {}

ForbiddenClientWatch::~ForbiddenClientWatch() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  wakes_.notify_all();
  thread_.join();
}

Status ForbiddenClientWatch::look() {
  {
    const std::scoped_lock lock(mutex_);
    if (refused_ && Clock::now() - *refused_ < 2 * every_) return {};
  }
  return tryAll();
}

Status ForbiddenClientWatch::tryAll() {
  const Clock::time_point begun = Clock::now();
  const Result<std::vector<ForbiddenClient>> forbidden = load_();
  if (!forbidden.ok())
    return unavailable("it cannot be tried whether etcd refuses all but popdistds: " +
                       forbidden.status().message());
  Status refuses = checkRefuses(etcd_, forbidden.value(), begun + kTryTimeout);
  const std::scoped_lock lock(mutex_);
  if (refuses.ok()) refused_ = begun;
  return refuses;
}

void ForbiddenClientWatch::run() {
  std::unique_lock lock(mutex_);
  while (!wakes_.wait_for(lock, every_, [this] { return is_ending_; })) {
    lock.unlock();
    const Status refuses = tryAll();
    if (refuses.code() == Code::kFailedPrecondition) return lets_in_(refuses);
    if (!refuses.ok()) log::warning(refuses.message());
    lock.lock();
  }
}

}  // namespace pop::popdistd
