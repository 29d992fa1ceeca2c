// SPDX-License-Identifier: Apache-2.0
#include "popdistd/leader/stranger_watch.h"

#include <utility>

namespace pop::popdistd {
namespace {

constexpr std::chrono::milliseconds kTryTimeout{2000};

}  // namespace

StrangerWatch::StrangerWatch(EtcdClient& etcd, std::vector<Stranger> strangers, LetsIn lets_in,
                             std::chrono::milliseconds every)
    : etcd_(etcd),
      strangers_(std::move(strangers)),
      lets_in_(std::move(lets_in)),
      every_(every),
      thread_([this] { run(); }) {}

StrangerWatch::~StrangerWatch() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  wakes_.notify_all();
  thread_.join();
}

Status StrangerWatch::look() {
  {
    const std::scoped_lock lock(mutex_);
    if (refused_ && Clock::now() - *refused_ < 2 * every_) return {};
  }
  return tryAll();
}

Status StrangerWatch::tryAll() {
  const Clock::time_point begun = Clock::now();
  Status refuses = checkRefuses(etcd_, strangers_, begun + kTryTimeout);
  const std::scoped_lock lock(mutex_);
  if (refuses.ok()) refused_ = begun;
  return refuses;
}

void StrangerWatch::run() {
  std::unique_lock lock(mutex_);
  while (!wakes_.wait_for(lock, every_, [this] { return is_ending_; })) {
    lock.unlock();
    const Status refuses = tryAll();
    if (refuses.code() == Code::kFailedPrecondition) return lets_in_(refuses);
    lock.lock();
  }
}

}  // namespace pop::popdistd
