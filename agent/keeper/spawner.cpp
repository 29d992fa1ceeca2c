// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/spawner.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "common/base/check.h"

namespace pop::keeper {
namespace {

// With fewer waiting starts, a second thread does not pay for its own start.
constexpr std::size_t kWorthAHelper = 3;

}  // namespace

Spawner::Spawner() : ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Spawner::enqueue(int instance, SpawnOrder order, std::vector<sys::Fd> descriptors) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({instance, 0, std::move(order), std::move(descriptors)});
  if (waiting_.size() < kWorthAHelper) return;
  if (has_helper_) return work_.notify_one();
  try {
    // Never joined: a child gets its parent-death signal when the thread that started it ends, so this thread
    // lives as long as the process.
    std::thread([this] { help(); }).detach();
    has_helper_ = true;
  } catch (const std::system_error&) {
    // No more threads are allowed: this thread starts everything.
  }
}

bool Spawner::take(Waiting& next) {
  if (waiting_.empty() || stopped_) return false;
  next = std::move(waiting_.front());
  waiting_.pop_front();
  next.serial = begun_++;
  return true;
}

bool Spawner::startNext() {
  Waiting next;
  {
    const std::lock_guard lock(mutex_);
    if (!take(next)) return false;
  }
  start(next);
  return true;
}

void Spawner::start(const Waiting& waiting) {
  SpawnResult result = spawn(waiting.order);
  const std::lock_guard lock(mutex_);
  started_.push_back({waiting.instance, waiting.serial, std::move(result)});
  ++ended_;
  finished_.notify_all();
}

void Spawner::stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  finished_.wait(lock, [this] { return begun_ == ended_; });
}

void Spawner::help() {
  while (true) {
    Waiting next;
    {
      std::unique_lock lock(mutex_);
      while (!take(next)) work_.wait(lock);
    }
    start(next);
    const std::uint64_t one = 1;
    POP_CHECK(::write(ready_.get(), &one, sizeof(one)) == sizeof(one));
  }
}

std::vector<Spawner::Started> Spawner::takeStarted() {
  const std::lock_guard lock(mutex_);
  return std::exchange(started_, {});
}

std::uint64_t Spawner::begun() {
  const std::lock_guard lock(mutex_);
  return begun_;
}

}  // namespace pop::keeper
