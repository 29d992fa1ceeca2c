// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/byte_pump.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <utility>

#include "common/base/check.h"

namespace pop {

BytePump::BytePump() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  POP_CHECK(wake_.valid());
  // Signals are the loop's business.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
  std::vector<pollfd> fds;
  std::vector<std::size_t> begins;
  while (!stopping_) {
    fds.assign(1, {wake_.get(), POLLIN, 0});
    begins.clear();
    for (const auto& each : pumped_) {
      begins.push_back(fds.size());
      each->prepare(fds);
    }
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;
    stepAll(fds, begins);
    if (fds[0].revents == 0) continue;
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);
    takeAdded();
  }
  pumped_.clear();
}

// Bytes may have come before: no descriptor would tell, so each begins with a step.
void BytePump::takeAdded() {
  std::vector<std::unique_ptr<Pumped>> added;
  {
    const std::scoped_lock lock(mutex_);
    added.swap(added_);
  }
  for (std::unique_ptr<Pumped>& each : added) {
    std::vector<pollfd> nothing_ready;
    each->prepare(nothing_ready);
    if (each->step(nothing_ready.data())) pumped_.push_back(std::move(each));
  }
}

void BytePump::stepAll(std::vector<pollfd>& fds, const std::vector<std::size_t>& begins) {
  fds.push_back({-1, 0, 0});  // the end of the last one's
  for (std::size_t i = begins.size(); i-- > 0;) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : fds.size() - 1;
    bool ready = false;
    for (std::size_t at = begins[i]; at < end; ++at) ready = ready || fds[at].revents != 0;
    if (ready && !pumped_[i]->step(&fds[begins[i]])) {
      pumped_.erase(pumped_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

}  // namespace pop
