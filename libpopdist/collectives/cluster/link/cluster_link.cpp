// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/cluster/link/cluster_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <utility>

#include "common/base/text.h"
#include "common/contract/segment.h"
#include "common/sys/blocked_signals.h"
#include "common/sys/cores.h"
#include "common/sys/unix_socket.h"
#include "libpopdist/collectives/context/memory_link.h"

namespace popdist::cluster {

using context::LinkError;
using pop::Code;
using pop::contract::Frame;
using std::chrono::milliseconds;

namespace {

// The server answers a late fence with the names of the missing; this is how long that may take.
constexpr milliseconds kAnswerSlack{1000};
constexpr milliseconds kLongestSleep{100};

bool lockBefore(pop::sys::AwakeClock::time_point deadline, std::unique_lock<std::mutex>& lock) {
  while (!lock.try_lock()) {
    if (pop::sys::AwakeClock::now() >= deadline) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

}  // namespace

ClusterLink::ClusterLink(const Roster& roster, int instance, Joined joined, pop::sys::Mapping segment,
                         int host_cores)
    : roster_(roster),
      instance_(instance),
      exceptions_(std::uncaught_exceptions()),
      network_{std::move(joined.key), std::move(joined.own_address)},
      host_cores_(host_cores),
      own_place_(std::move(joined.own_place)),
      server_(std::move(joined.server)),
      socket_(std::move(joined.socket)),
      segment_(std::move(segment)),
      reader_(std::move(joined.reader)),
      known_ends_(roster.workers.size(), false) {
  reader_.setMostBytes(pop::contract::kMaxFrameBytes);
  pop::contract::initialiseSegment(segment_.data(), segment_.size(),
                                   static_cast<std::uint32_t>(roster.size()));
}

pop::Result<std::unique_ptr<ClusterLink>> ClusterLink::start(const Roster& roster, int instance,
                                                             Joined joined) try {
  const std::size_t bytes = context::mappableSegmentBytes(roster.workers.size());
  POP_ASSIGN_OR_RETURN(pop::sys::Mapping segment, context::mapSegment(bytes));
  POP_ASSIGN_OR_RETURN(const std::vector<int> cores, pop::sys::usableCores());
  std::unique_ptr<ClusterLink> link(new ClusterLink(roster, instance, std::move(joined), std::move(segment),
                                                    static_cast<int>(cores.size())));
  const pop::sys::BlockedSignals blocked;  // in the thread: signals are the program's business
  link->thread_ = std::thread([raw = link.get()] { raw->receiveAll(); });
  return link;
} catch (const std::system_error&) {
  return pop::Status(Code::kResourceExhausted, "no thread can be started for the cluster's link (ulimit -u)");
}

ClusterLink::~ClusterLink() {
  if (fork_ != pop::sys::forksOfThisProcess()) {
    if (thread_.joinable()) thread_.detach();  // a forked child has no such thread, and shares the connection
    return;
  }
  leave(begun_ && std::uncaught_exceptions() == exceptions_);
}

void ClusterLink::leave(bool clean) {
  if (fork_ != pop::sys::forksOfThisProcess() || left_.exchange(true)) return;
  closing_ = true;
  if (server_) {
    server_->setClean(clean);
    server_.reset();
  } else {
    static_cast<void>(send(Message::kBye, {clean ? "1" : "0"}, Clock::now() + kAnswerSlack));
  }
  ::shutdown(socket_.get(), SHUT_RDWR);
  if (thread_.joinable()) thread_.join();
}

// ---- for the callers

LinkError ClusterLink::usable() const {
  if (left_) return {pop::failedPrecondition("this instance has ended for the others")};
  if (fork_ == pop::sys::forksOfThisProcess()) return {};
  return {pop::failedPrecondition(
      "this process was forked from the one that owns the context; only that one can use it")};
}

LinkError ClusterLink::gone() const {
  const std::lock_guard lock(mutex_);
  if (server_end_.empty()) return {pop::unavailable("the connection to instance 0 is gone"), 0};
  return {pop::unavailable(server_end_), 0};
}

LinkError ClusterLink::send(Message type, std::vector<std::string> fields, Clock::time_point deadline) {
  pop::Result<std::string> bytes =
      pop::contract::encode({static_cast<std::uint8_t>(type), std::move(fields)});
  if (!bytes.ok()) return {bytes.status()};
  std::unique_lock lock(send_mutex_, std::defer_lock);
  if (lockBefore(deadline, lock) && !cut_off_) {
    const pop::Status sent = pop::sys::sendAllUntil(socket_.get(), *bytes, deadline);
    if (sent.ok()) return {};
    cut_off_ = true;
    if (sent.code() != Code::kDeadlineExceeded) return gone();
  }
  return {{Code::kDeadlineExceeded,
           "instance 0 reads nothing (Context::setTimeout); is it stopped, or the network gone?"},
          0};
}

LinkError ClusterLink::put(const std::string& key, const std::string& value, milliseconds timeout) {
  if (LinkError error = usable(); !error.ok()) return error;
  return send(Message::kPut, {key, value}, Clock::now() + timeout);
}

LinkError ClusterLink::get(const std::string& key, milliseconds, std::optional<std::string>& value) {
  if (LinkError error = usable(); !error.ok()) return error;
  const std::lock_guard lock(mutex_);
  const auto found = values_.find(key);
  value = found == values_.end() ? std::nullopt : std::optional(found->second);
  return {};
}

LinkError ClusterLink::getAll(const std::string& prefix, milliseconds, Values& values) {
  if (LinkError error = usable(); !error.ok()) return error;
  const std::lock_guard lock(mutex_);
  values.clear();
  for (auto each = values_.lower_bound(prefix); each != values_.end() && each->first.starts_with(prefix);
       ++each)
    values.insert(*each);
  return {};
}

LinkError ClusterLink::fence(const std::string& tag, milliseconds timeout, const Meanwhile& meanwhile) {
  const std::lock_guard call(call_mutex_);
  if (LinkError error = usable(); !error.ok()) return error;
  const Clock::time_point deadline = Clock::now() + timeout + kAnswerSlack;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++calls_;
    answer_.reset();
    if (!server_end_.empty()) return {pop::unavailable(server_end_), 0};
  }
  if (LinkError error =
          send(Message::kFence, {std::to_string(number), std::to_string(timeout.count()), tag}, deadline);
      !error.ok())
    return error;
  std::unique_lock lock(mutex_);
  while (!answer_ && server_end_.empty()) {
    if (Clock::now() >= deadline) return noAnswer();
    if (changed_.wait_for(lock, kLongestSleep) != std::cv_status::timeout || !meanwhile) continue;
    lock.unlock();
    meanwhile();
    lock.lock();
  }
  return answer_ ? *answer_ : LinkError{pop::unavailable(server_end_), 0};
}

// An answer that comes after all is to no call that waits.
LinkError ClusterLink::noAnswer() {
  ++calls_;
  return {{Code::kDeadlineExceeded, "instance 0 does not answer; is it stopped, or the network gone?"}, 0};
}

// No other process prints the program's message, as poprun would.
void ClusterLink::abort(int exit_code, const std::string& message) {
  std::fprintf(stderr, "popdist: %s ended the job: %s\n", roster_.nameOf(instance_).c_str(),
               pop::printable(message).c_str());
  aborting_ = true;
  const Clock::time_point deadline = Clock::now() + kAnswerSlack;
  if (!send(Message::kAbort, {std::to_string(exit_code), message}, deadline).ok()) return;
  std::unique_lock lock(mutex_);
  while (!abort_heard_ && server_end_.empty() && Clock::now() < deadline)
    changed_.wait_for(lock, kLongestSleep);
  ::poll(nullptr, 0, kAbortSettles_ms);
}

}  // namespace popdist::cluster
