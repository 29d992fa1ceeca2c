// SPDX-License-Identifier: Apache-2.0
#include "agent/io/stdin_feed.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "common/log/log.h"
#include "common/sys/reopen.h"
#include "common/sys/terminal.h"

namespace pop::agent {
namespace {

constexpr std::size_t kBufferBytes = 64 << 10;

// Interval at which a launcher in the background checks whether it has come to the foreground.
constexpr std::chrono::milliseconds kLookAgain{250};

// A failing instance closes its stdin a moment before its end is known.
constexpr std::chrono::milliseconds kFailureTimeout{100};

short stateOf(int fd, short events) {
  pollfd state{fd, events, 0};
  return ::poll(&state, 1, 0) > 0 ? state.revents : short{0};
}

}  // namespace

StdinFeed::StdinFeed(os::EpollLoop& loop, int source, std::function<void()> on_unread)
    : loop_(loop), source_(source), on_unread_(std::move(on_unread)), is_terminal_(::isatty(source) == 1) {}

StdinFeed::~StdinFeed() {
  stopAwaitingSource();
  forgetUnread();
  for (const auto& [instance, receiver] : receivers_) loop_.unwatch(receiver.pipe.get());
}

void StdinFeed::begin(const model::StdinPolicy& policy, int num_instances) {
  stopAwaitingSource();
  forgetUnread();
  keeps_ = false;
  drops_ = false;
  while (!receivers_.empty()) drop(receivers_.begin());
  policy_ = policy;
  expected_ = policy.who == model::StdinPolicy::Who::kAll ? num_instances : 1;
}

bool StdinFeed::receives(int instance) const {
  return policy_.who == model::StdinPolicy::Who::kAll ||
         (policy_.who == model::StdinPolicy::Who::kOne && policy_.instance == instance);
}

Result<sys::Fd> StdinFeed::open(int instance) {
  if (!receives(instance)) {
    sys::Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null.valid()) return errnoStatus("opening /dev/null", errno);
    return null;
  }
  if (policy_.who == model::StdinPolicy::Who::kAll || is_terminal_) return openPipe(instance);
  // In a script, input that the instance does not read must stay available to the commands that follow the
  // launcher. This does not work with a terminal: an instance is not in its foreground.
  sys::Fd same(::fcntl(source_, F_DUPFD_CLOEXEC, 3));
  if (!same.valid()) return errnoStatus("passing stdin on", errno);
  return same;
}

Result<sys::Fd> StdinFeed::openPipe(int instance) {
  POP_ASSIGN_OR_RETURN(sys::Pipe pipe, sys::makePipe());
  POP_RETURN_IF_ERROR(sys::setNonBlocking(pipe.write_end.get()));
  // At a terminal, a line is read only after the previous one has been consumed: it may be meant for the
  // shell.
  if (is_terminal_) ::fcntl(pipe.write_end.get(), F_SETPIPE_SZ, 4096);
  receivers_[instance] = {std::move(pipe.write_end), not_taken_from_, false};
  if (--expected_ == 0) loop_.post([this] { advance(); });
  return std::move(pipe.read_end);
}

void StdinFeed::drop(Receivers::iterator receiver) {
  // Input that the last reader has not taken is kept for the next run.
  if (receivers_.size() == 1) not_taken_from_ = receiver->second.taken;
  loop_.unwatch(receiver->second.pipe.get());
  receivers_.erase(receiver);
}

void StdinFeed::close(int instance) {
  const auto found = receivers_.find(instance);
  if (found == receivers_.end()) return;
  drop(found);
  loop_.post([this] { advance(); });  // others may have waited for it alone
}

void StdinFeed::keep() {
  keeps_ = true;
  forgetUnread();
}

void StdinFeed::forgetUnread() {
  if (unread_timer_) loop_.cancel(*unread_timer_);
  unread_timer_.reset();
}

// No reader is left. Unless that is a failure, there will be none before the next run.
void StdinFeed::awaitFailure() {
  if (!on_unread_ || keeps_ || drops_ || at_end_ || unread_timer_) return;
  unread_timer_ = loop_.postAfter(kFailureTimeout, [this] {
    unread_timer_.reset();
    drops_ = true;
    on_unread_();
    advance();
  });
}

// Writes the buffer to the receivers; when all of them have all of it and can take more, waits for the
// source.
void StdinFeed::advance() {
  if (!settle() || !isWanted()) return;
  buffer_.clear();
  not_taken_from_ = 0;
  if (at_end_) return finish();
  awaitSource();
}

// True when no receiver blocks. Receivers that have closed their stdin are dropped.
bool StdinFeed::settle() {
  if (expected_ > 0) return false;
  bool settled = true;
  for (auto next = receivers_.begin(); next != receivers_.end();) {
    const auto receiver = next++;
    const bool open = offer(receiver->second);
    const short state = open ? stateOf(receiver->second.pipe.get(), POLLOUT) : POLLERR;
    if ((state & POLLERR) != 0) {
      drop(receiver);
    } else if (receiver->second.taken < buffer_.size() || (state & POLLOUT) == 0) {
      watchReceiver(receiver->first, receiver->second);
      settled = false;
    }
  }
  if (receivers_.empty()) awaitFailure();
  return settled;
}

// Writes what the receiver accepts now; false when it accepts nothing more.
bool StdinFeed::offer(Receiver& receiver) {
  while (receiver.taken < buffer_.size()) {
    const ssize_t written =
        ::write(receiver.pipe.get(), buffer_.data() + receiver.taken, buffer_.size() - receiver.taken);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno == EAGAIN;
    receiver.taken += static_cast<std::size_t>(written);
  }
  return true;
}

void StdinFeed::watchReceiver(int instance, Receiver& receiver) {
  if (std::exchange(receiver.watched, true)) return;
  loop_.watchWritable(receiver.pipe.get(), [this, instance] {
    const auto found = receivers_.find(instance);
    if (found == receivers_.end()) return;
    found->second.watched = false;
    loop_.unwatch(found->second.pipe.get());
    advance();
  });
}

// A background process that reads from the terminal is stopped, and could take input meant for another
// process.
bool StdinFeed::mayRead() const {
  return !is_terminal_ || !sys::inBackground(source_);
}

void StdinFeed::awaitSource() {
  if (watching_ || timer_) return;
  if (!mayRead()) {
    timer_ = loop_.postAfter(kLookAgain, [this] {
      timer_.reset();
      advance();
    });
    return;
  }
  if (!readiness_.valid() && !always_ready_) openReadiness();
  if (always_ready_) return loop_.post([this] { readSource(); });
  watching_ = true;
  loop_.watchReadable(readiness_.get(), [this] { readSource(); });
}

void StdinFeed::openReadiness() {
  // Between the check for the foreground and the read, a shell may move this process to the background.
  if (is_terminal_) std::signal(SIGTTIN, SIG_IGN);
  own_ = sys::reopenNonBlocking(source_, O_RDONLY);
  readiness_ = sys::readinessOf(own_.valid() ? own_.get() : source_, EPOLLIN);
  always_ready_ = !readiness_.valid();
}

void StdinFeed::stopAwaitingSource() {
  if (std::exchange(watching_, false)) loop_.unwatch(readiness_.get());
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
}

void StdinFeed::readSource() {
  stopAwaitingSource();
  // The receivers may have gone in the meantime: without a receiver nothing is read.
  if (!settle() || !isWanted()) return;
  const int source = own_.valid() ? own_.get() : source_;
  if (!mayRead() || (!always_ready_ && (stateOf(source, POLLIN) & (POLLIN | POLLHUP | POLLERR)) == 0)) {
    return awaitSource();
  }
  buffer_.resize(kBufferBytes);
  const ssize_t got = ::read(source, buffer_.data(), buffer_.size());
  const int error = got < 0 ? errno : 0;
  buffer_.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  bytes_read_ += static_cast<std::int64_t>(buffer_.size());
  const bool in_background = error == EIO && !mayRead();
  const bool failed = error != 0 && error != EAGAIN && error != EINTR && !in_background;
  if (failed)
    log::warning(errnoStatus("reading stdin for the instances", error).message() + "; their stdin ends here");
  if (got == 0 || failed) at_end_ = true;
  for (auto& [instance, receiver] : receivers_) receiver.taken = 0;
  advance();
}

// When the source ends, the instances' stdin ends.
void StdinFeed::finish() {
  at_end_ = true;
  while (!receivers_.empty()) drop(receivers_.begin());
}

}  // namespace pop::agent
