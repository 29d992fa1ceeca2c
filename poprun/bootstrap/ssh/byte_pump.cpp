// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/byte_pump.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <set>
#include <utility>

#include "common/base/check.h"
#include "common/sys/blocked_signals.h"

namespace pop {
namespace {

// The origin of an event: the object, and the index of its descriptor. No object has the number 0, which
// stands for wake_.
std::uint64_t packed(std::uint32_t id, std::size_t slot) {
  return (std::uint64_t{id} << 32) | slot;
}

}  // namespace

BytePump::BytePump()
    : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  POP_CHECK(wake_.valid() && epoll_.valid());
  epoll_event wake{.events = EPOLLIN, .data = {.u64 = packed(0, 0)}};
  POP_CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &wake) == 0);
  const sys::BlockedSignals blocked;  // in the thread: signals are the loop's business
  thread_ = std::thread([this] { run(); });
}

BytePump::~BytePump() {
  stopping_ = true;
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void BytePump::add(std::unique_ptr<Pumped> pumped) {
  const std::scoped_lock lock(mutex_);
  added_.push_back(std::move(pumped));
  ::eventfd_write(wake_.get(), 1);
}

void BytePump::run() {
  std::array<epoll_event, 64> events;
  while (!stopping_) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    std::set<Id> ready;
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      const Id id = static_cast<Id>(event.data.u64 >> 32);
      ready.insert(id);
      const auto found = pumped_.find(id);
      if (found == pumped_.end()) continue;
      found->second.fds[event.data.u64 & UINT32_MAX].revents = static_cast<short>(event.events);
    }
    for (const Id id : ready) {
      const auto found = pumped_.find(id);
      if (found != pumped_.end()) step(id, found->second);
    }
    if (!ready.contains(0)) continue;
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);
    takeAdded();
  }
  pumped_.clear();
}

// Bytes may already have been read from the descriptor, so each object begins with a step.
void BytePump::takeAdded() {
  std::vector<std::unique_ptr<Pumped>> added;
  {
    const std::scoped_lock lock(mutex_);
    added.swap(added_);
  }
  for (std::unique_ptr<Pumped>& each : added) {
    const Id id = ++last_id_;
    Entry& entry = pumped_[id];
    entry.pumped = std::move(each);
    watch(id, entry);
    step(id, entry);
  }
}

void BytePump::step(Id id, Entry& entry) {
  while (entry.pumped->step(entry.fds.data())) {
    if (watch(id, entry)) return;
  }
  for (std::size_t slot = 0; slot < entry.fds.size(); ++slot) change(id, slot, entry.fds[slot], {-1, 0, 0});
  pumped_.erase(id);
}

// False: a descriptor is closed, and its owner must notice at once.
bool BytePump::watch(Id id, Entry& entry) const {
  std::vector<pollfd> before = std::exchange(entry.fds, {});
  entry.pumped->prepare(entry.fds);
  before.resize(entry.fds.size(), {-1, 0, 0});
  bool all_open = true;
  for (std::size_t slot = 0; slot < entry.fds.size(); ++slot) {
    pollfd& after = entry.fds[slot];
    if (change(id, slot, before[slot], after)) continue;
    after = {after.fd, after.events, POLLNVAL};
    all_open = false;
  }
  return all_open;
}

bool BytePump::change(Id id, std::size_t slot, const pollfd& before, const pollfd& after) const {
  if (before.fd == after.fd && (after.fd < 0 || before.events == after.events)) return true;
  epoll_event event{.events = static_cast<std::uint32_t>(after.events), .data = {.u64 = packed(id, slot)}};
  if (before.fd == after.fd) return ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, after.fd, &event) == 0;
  // A closed descriptor has already left the epoll set.
  if (before.fd >= 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, before.fd, nullptr);
  return after.fd < 0 || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, after.fd, &event) == 0;
}

}  // namespace pop
