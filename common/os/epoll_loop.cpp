// SPDX-License-Identifier: Apache-2.0
#include "common/os/epoll_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

#include "common/base/check.h"
#include "common/sys/fd.h"

namespace pop::os {
namespace {

using Task = std::function<void()>;

constexpr std::uint32_t kReading = EPOLLIN;
constexpr std::uint32_t kWriting = EPOLLOUT;

struct Watch {
  Task readable;  ///< empty: not watched
  Task writable;
  std::uint32_t registered = 0;
  bool always_ready = false;  ///< epoll does not know it

  std::uint32_t wanted() const { return (readable ? kReading : 0) | (writable ? kWriting : 0); }
};

}  // namespace

struct EpollLoop::Impl {
  using TimerKey = std::pair<Clock::time_point, std::uint64_t>;  // of the same time, the older first

  Impl() : epoll(::epoll_create1(EPOLL_CLOEXEC)), wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    POP_CHECK(epoll.valid() && wake.valid());
    epoll_event event{.events = EPOLLIN, .data = {.fd = wake.get()}};
    POP_CHECK(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event) == 0);
  }

  // ---- tasks; from any thread

  // The loop's own thread checks the queue before it sleeps.
  void post(Task task) {
    const std::scoped_lock lock(mutex);
    posted.push_back(std::move(task));
    if (std::this_thread::get_id() != thread) wakeUp();
  }

  void runBy(std::thread::id runner) {
    const std::scoped_lock lock(mutex);
    thread = runner;
  }

  void wakeUp() const { ::eventfd_write(wake.get(), 1); }

  bool hasPosted() {
    const std::scoped_lock lock(mutex);
    return !posted.empty();
  }

  // Runs the tasks that are queued now; tasks posted meanwhile run in the next round.
  void runPosted() {
    std::vector<Task> tasks;
    {
      const std::scoped_lock lock(mutex);
      tasks.swap(posted);
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i]();
      if (stopped) return putBack(tasks, i + 1);
    }
  }

  // Tasks after a stop wait for the next run.
  void putBack(std::vector<Task>& tasks, std::size_t from) {
    const std::scoped_lock lock(mutex);
    const auto rest = tasks.begin() + static_cast<std::ptrdiff_t>(from);
    posted.insert(posted.begin(), std::make_move_iterator(rest), std::make_move_iterator(tasks.end()));
  }

  // Tasks that keep posting each other must not starve timers and descriptors.
  void runLast() {
    if (last.empty() || (++turns_before_last < kMaxTurnsBeforeLast && hasPosted())) return;
    turns_before_last = 0;
    for (const Task& task : std::exchange(last, {})) task();
  }

  // ---- timers

  void runTimers() {
    const Clock::time_point now = Clock::now();
    while (!stopped && !queue.empty() && queue.begin()->first.first <= now) {
      const Task task = std::move(queue.begin()->second);
      due_times.erase(queue.begin()->first.second);
      queue.erase(queue.begin());
      task();
    }
  }

  int timeoutMs() {
    if (!always_ready.empty() || hasPosted() || !last.empty()) return 0;
    if (queue.empty()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(queue.begin()->first.first - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT32_MAX));
  }

  // ---- descriptors

  void change(int fd, Watch& watch) {
    const std::uint32_t wanted = watch.wanted();
    if (watch.always_ready) return changeAlwaysReady(fd, wanted != 0);
    if (wanted == watch.registered) return;
    epoll_event event{.events = wanted, .data = {.fd = fd}};
    const int what = watch.registered == 0 ? EPOLL_CTL_ADD : wanted == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    const bool done = ::epoll_ctl(epoll.get(), what, fd, &event) == 0;
    POP_CHECK(done || wanted == 0 || errno == EPERM);
    watch.always_ready = !done && wanted != 0;
    if (watch.always_ready) return changeAlwaysReady(fd, true);
    watch.registered = wanted;
  }

  void changeAlwaysReady(int fd, bool wanted) {
    if (wanted)
      always_ready.insert(fd);
    else
      always_ready.erase(fd);
  }

  void forget(int fd) {
    const auto found = watches.find(fd);
    if (found == watches.end()) return;
    if (found->second.registered != 0) ::epoll_ctl(epoll.get(), EPOLL_CTL_DEL, fd, nullptr);
    always_ready.erase(fd);
    watches.erase(found);
    // No further events of this round: the number may belong to another descriptor by now.
    for (epoll_event& event : round) {
      if (event.data.fd == fd) event.events = 0;
    }
  }

  // A handler may unwatch, and thereby destroy, itself and others.
  void report(int fd, std::uint32_t events) {
    constexpr std::uint32_t kEnd = EPOLLHUP | EPOLLERR;
    for (const std::uint32_t kind : {kReading, kWriting}) {
      const auto found = watches.find(fd);
      if (found == watches.end() || stopped || (events & (kind | kEnd)) == 0) continue;
      const Task ready = kind == kReading ? found->second.readable : found->second.writable;
      if (ready) ready();
    }
  }

  void reportAlwaysReady() {
    const std::set<int> ready = always_ready;
    for (const int fd : ready) report(fd, kReading | kWriting);
  }

  void poll() {
    round.resize(kMaxEvents);
    const int count = ::epoll_wait(epoll.get(), round.data(), kMaxEvents, timeoutMs());
    round.resize(static_cast<std::size_t>(std::max(count, 0)));
    if (first) first();
    // Tasks first: a thread that posts a task and then closes a descriptor expects the task to run before the
    // close is seen.
    runPosted();
    for (std::size_t i = 0; i < round.size() && !stopped; ++i) {
      const epoll_event event = round[i];
      if (event.data.fd == wake.get())
        quiet();
      else if (event.events != 0)
        report(event.data.fd, event.events);
    }
    round.clear();
    if (!always_ready.empty() && !stopped) reportAlwaysReady();
  }

  void quiet() const {
    eventfd_t ignored = 0;
    ::eventfd_read(wake.get(), &ignored);
  }

  static constexpr int kMaxEvents = 128;
  static constexpr int kMaxTurnsBeforeLast = 4;

  const sys::Fd epoll;
  const sys::Fd wake;
  std::atomic<bool> stopped = false;
  std::mutex mutex;
  std::thread::id thread;    ///< that runs the loop; under the mutex
  std::vector<Task> posted;  ///< under the mutex
  std::vector<Task> last;    ///< of postLast
  Task first;                ///< of beginTurnsWith
  int turns_before_last = 0;
  std::map<TimerKey, Task> queue;
  std::unordered_map<std::uint64_t, Clock::time_point> due_times;
  std::uint64_t last_timer = 0;
  Clock::duration extended{0};  ///< all timers, by now
  std::unordered_map<int, Watch> watches;
  std::vector<epoll_event> round;  ///< being reported
  std::set<int> always_ready;  ///< descriptors of which epoll knows nothing, while somebody waits for them
  std::unique_ptr<SignalPipe> signals;
};

EpollLoop::EpollLoop() : impl_(std::make_unique<Impl>()) {}
EpollLoop::~EpollLoop() = default;

void EpollLoop::run() {
  impl_->runBy(std::this_thread::get_id());
  while (!impl_->stopped) {
    impl_->poll();
    impl_->runTimers();
    impl_->runLast();
  }
  impl_->stopped = false;
  impl_->runBy({});
}

void EpollLoop::stop() {
  impl_->stopped = true;
  impl_->wakeUp();
}

void EpollLoop::post(std::function<void()> task) {
  impl_->post(std::move(task));
}

void EpollLoop::postLast(std::function<void()> task) {
  impl_->last.push_back(std::move(task));
}

void EpollLoop::beginTurnsWith(std::function<void()> task) {
  impl_->first = std::move(task);
}

TimerId EpollLoop::postAfter(std::chrono::milliseconds delay, std::function<void()> task) {
  const std::uint64_t id = ++impl_->last_timer;
  const Clock::time_point due = Clock::now() + delay;
  impl_->due_times[id] = due;
  impl_->queue.emplace(Impl::TimerKey{due, id}, std::move(task));
  return TimerId{id};
}

void EpollLoop::cancel(TimerId timer) {
  const auto id = static_cast<std::uint64_t>(timer);
  const auto found = impl_->due_times.find(id);
  if (found == impl_->due_times.end()) return;
  impl_->queue.erase({found->second, id});
  impl_->due_times.erase(found);
}

void EpollLoop::extendTimers(Clock::duration duration) {
  std::map<Impl::TimerKey, Task> extended;
  for (auto& [key, task] : impl_->queue) {
    impl_->due_times[key.second] += duration;
    extended.emplace(Impl::TimerKey{key.first + duration, key.second}, std::move(task));
  }
  impl_->queue = std::move(extended);
  impl_->extended += duration;
}

Clock::time_point EpollLoop::timerTime() const {
  return Clock::now() - impl_->extended;
}

void EpollLoop::watchReadable(int fd, std::function<void()> ready) {
  Watch& watch = impl_->watches[fd];
  watch.readable = std::move(ready);
  impl_->change(fd, watch);
}

void EpollLoop::watchWritable(int fd, std::function<void()> ready) {
  Watch& watch = impl_->watches[fd];
  watch.writable = std::move(ready);
  impl_->change(fd, watch);
}

void EpollLoop::unwatchReadable(int fd) {
  const auto found = impl_->watches.find(fd);
  if (found == impl_->watches.end()) return;
  found->second.readable = nullptr;
  impl_->change(fd, found->second);
}

void EpollLoop::unwatchWritable(int fd) {
  const auto found = impl_->watches.find(fd);
  if (found == impl_->watches.end()) return;
  found->second.writable = nullptr;
  impl_->change(fd, found->second);
}

void EpollLoop::unwatch(int fd) {
  impl_->forget(fd);
}

void EpollLoop::watchSignals(const std::vector<int>& signals, std::function<void(const Signal&)> received) {
  impl_->signals = std::make_unique<SignalPipe>(signals);
  watchReadable(impl_->signals->fd(), [this, received = std::move(received)] {
    while (const std::optional<Signal> signal = impl_->signals->take()) received(*signal);
  });
}

}  // namespace pop::os
