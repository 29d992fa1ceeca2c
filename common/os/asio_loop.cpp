// SPDX-License-Identifier: Apache-2.0
#include "common/os/asio_loop.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>

#include "common/base/check.h"

namespace pop::os {
namespace asio = boost::asio;
using boost::system::error_code;
using WaitType = asio::posix::descriptor_base::wait_type;

namespace {

// One watched descriptor. Kept alive by the waits in flight; `ready` is empty for a kind that is not watched.
struct Watch {
  Watch(asio::io_context& context, int fd) : descriptor(context, fd) {}
  ~Watch() {
    if (descriptor.is_open()) descriptor.release();  // we never own the descriptor
  }

  struct Direction {
    std::function<void()> ready;
    bool waiting = false;
  };

  asio::posix::stream_descriptor descriptor;
  Direction read;
  Direction write;
};

struct Timer {
  Timer(asio::io_context& context, std::function<void()> what) : clock(context), task(std::move(what)) {}

  asio::steady_timer clock;
  std::function<void()> task;
  int waits = 0;  ///< begun so far
};

void arm(const std::shared_ptr<Watch>& watch, WaitType type) {
  Watch::Direction& direction = type == WaitType::wait_read ? watch->read : watch->write;
  if (direction.waiting || !direction.ready) return;
  direction.waiting = true;
  watch->descriptor.async_wait(type, [watch, type](error_code error) {
    Watch::Direction& fired = type == WaitType::wait_read ? watch->read : watch->write;
    fired.waiting = false;
    if (error || !fired.ready) return;
    const std::function<void()> ready = fired.ready;  // the handler may unwatch, and so destroy, itself
    ready();
    if (watch->descriptor.is_open()) arm(watch, type);
  });
}

}  // namespace

struct AsioLoop::Impl {
  asio::io_context context{1};
  std::map<int, std::shared_ptr<Watch>> watches;
  std::map<std::uint64_t, Timer> timers;
  std::uint64_t last_timer = 0;
  std::unique_ptr<asio::signal_set> signals;

  std::shared_ptr<Watch>& watchOf(int fd) {
    std::shared_ptr<Watch>& watch = watches[fd];
    if (!watch) watch = std::make_shared<Watch>(context, fd);
    return watch;
  }

  void awaitTimer(std::uint64_t id, Timer& timer) {
    timer.clock.async_wait([this, id, wait = ++timer.waits](error_code error) {
      if (error) return;
      // A wait that was over just before it was cancelled or extended still gets here: only the last one of a
      // timer that is still known may run its task.
      const auto found = timers.find(id);
      if (found == timers.end() || found->second.waits != wait) return;
      const std::function<void()> task = std::move(found->second.task);
      timers.erase(found);
      task();
    });
  }

  void awaitSignal(std::function<void(int)> received) {
    signals->async_wait([this, received = std::move(received)](error_code error, int signal) {
      if (error) return;
      received(signal);
      awaitSignal(received);
    });
  }
};

AsioLoop::AsioLoop() : impl_(std::make_unique<Impl>()) {}
AsioLoop::~AsioLoop() = default;

void AsioLoop::run() {
  {  // The guard's end stops a context without other work: it must come before the restart.
    const auto work = asio::make_work_guard(impl_->context);
    impl_->context.run();
  }
  impl_->context.restart();
}

void AsioLoop::stop() {
  impl_->context.stop();
}

void AsioLoop::post(std::function<void()> task) {
  asio::post(impl_->context, std::move(task));
}

TimerId AsioLoop::postAfter(std::chrono::milliseconds delay, std::function<void()> task) {
  const std::uint64_t id = ++impl_->last_timer;
  Timer& timer = impl_->timers.try_emplace(id, impl_->context, std::move(task)).first->second;
  timer.clock.expires_after(delay);
  impl_->awaitTimer(id, timer);
  return TimerId{id};
}

void AsioLoop::extendTimers(Clock::duration duration) {
  for (auto& [id, timer] : impl_->timers) {
    timer.clock.expires_at(timer.clock.expiry() + duration);  // ends the wait that was under way
    impl_->awaitTimer(id, timer);
  }
}

void AsioLoop::cancel(TimerId timer) {
  impl_->timers.erase(static_cast<std::uint64_t>(timer));
}

void AsioLoop::watchReadable(int fd, std::function<void()> ready) {
  auto& watch = impl_->watchOf(fd);
  watch->read.ready = std::move(ready);
  arm(watch, WaitType::wait_read);
}

void AsioLoop::watchWritable(int fd, std::function<void()> ready) {
  auto& watch = impl_->watchOf(fd);
  watch->write.ready = std::move(ready);
  arm(watch, WaitType::wait_write);
}

void AsioLoop::unwatchReadable(int fd) {
  if (const auto found = impl_->watches.find(fd); found != impl_->watches.end())
    found->second->read.ready = nullptr;
}

void AsioLoop::unwatchWritable(int fd) {
  if (const auto found = impl_->watches.find(fd); found != impl_->watches.end())
    found->second->write.ready = nullptr;
}

void AsioLoop::unwatch(int fd) {
  const auto found = impl_->watches.find(fd);
  if (found == impl_->watches.end()) return;
  const std::shared_ptr<Watch> watch = std::move(found->second);
  impl_->watches.erase(found);
  watch->read.ready = nullptr;
  watch->write.ready = nullptr;
  watch->descriptor.release();  // deregisters, and completes the waits in flight with an error
}

void AsioLoop::watchSignals(const std::vector<int>& signals, std::function<void(int)> received) {
  POP_CHECK(!impl_->signals);
  impl_->signals = std::make_unique<asio::signal_set>(impl_->context);
  for (const int signal : signals) impl_->signals->add(signal);
  impl_->awaitSignal(std::move(received));
}

}  // namespace pop::os
