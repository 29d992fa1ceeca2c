// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/cluster/link/cluster_link.h"

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

namespace popdist::cluster {

using context::LinkError;
using pop::Code;
using pop::contract::Frame;
using std::chrono::milliseconds;

namespace {

// The server answers a late fence with the names of the missing; this is how long that may take.
constexpr milliseconds kAnswerSlack{1000};
constexpr milliseconds kLongestSleep{100};
// Between the word that the job ends and the end of this process: to others that have not heard it yet,
// closed connections would look like a crash.
constexpr int kAbortSettles_ms = 100;

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
  const std::size_t bytes = pop::contract::segmentBytesFor(roster.workers.size());
  POP_ASSIGN_OR_RETURN(pop::sys::Mapping segment, pop::sys::mapAnonymous(bytes));
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
  const bool clean = begun_ && std::uncaught_exceptions() == exceptions_;
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

LinkError ClusterLink::fence(const std::string& tag, milliseconds timeout) {
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
    changed_.wait_for(lock, kLongestSleep);
  }
  return answer_ ? *answer_ : LinkError{pop::unavailable(server_end_), 0};
}

// An answer that comes after all is to no call that waits.
LinkError ClusterLink::noAnswer() {
  ++calls_;
  return {{Code::kDeadlineExceeded, "instance 0 does not answer; is it stopped, or the network gone?"}, 0};
}

// Nobody else prints what the program has to say, as poprun would.
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

// ---- the thread

void ClusterLink::receiveAll() {
  while (true) {
    pop::Result<std::optional<Frame>> frame = reader_.next();
    if (!frame.ok()) break;
    if (frame->has_value()) {
      if (!handle(std::move(**frame))) break;
      continue;
    }
    pollfd readable{socket_.get(), POLLIN, 0};
    ::poll(&readable, 1, -1);
    pop::Result<pop::sys::Received> received = pop::sys::receiveSome(socket_.get());
    if (!received.ok() || (!received->would_block && received->bytes.empty())) break;
    reader_.append(received->bytes);
  }
  serverIsGone();
}

// False: that is no message of the server's.
bool ClusterLink::handle(Frame frame) {
  switch (static_cast<Message>(frame.type)) {
    case Message::kValues: {
      if (frame.fields.size() % 2 != 0) return false;
      const std::lock_guard lock(mutex_);
      for (std::size_t i = 0; i < frame.fields.size(); i += 2)
        values_.insert_or_assign(std::move(frame.fields[i]), std::move(frame.fields[i + 1]));
      return true;
    }
    case Message::kReleased: {
      if (frame.fields.size() != 1) return false;
      const std::lock_guard lock(mutex_);
      if (frame.fields[0] == std::to_string(calls_)) answer_ = LinkError();
      changed_.notify_all();
      return true;
    }
    case Message::kError:
      return failed(frame);
    case Message::kEnded:
      return ended(frame);
    case Message::kAborted:
      return aborted(frame);
    default:
      return false;
  }
}

bool ClusterLink::failed(const Frame& frame) {
  if (frame.fields.size() != 4) return false;
  pop::Result<int> code = pop::contract::numberField(frame, 1);
  pop::Result<std::int64_t> culprit = pop::parseInteger(frame.fields[2]);
  const bool known = code.ok() && *code > 0 && *code <= static_cast<int>(Code::kDataLoss);
  const bool is_instance = culprit.ok() && *culprit >= 0 && *culprit < roster_.size();
  const std::lock_guard lock(mutex_);
  if (frame.fields[0] == std::to_string(calls_)) {
    answer_ = LinkError{{known ? static_cast<Code>(*code) : Code::kUnknown, frame.fields[3]},
                        is_instance ? static_cast<int>(*culprit) : -1};
  }
  changed_.notify_all();
  return true;
}

bool ClusterLink::ended(const Frame& frame) {
  if (frame.fields.size() != 3) return false;
  pop::Result<int> instance = pop::contract::numberField(frame, 0);
  if (!instance.ok() || *instance >= roster_.size()) return false;
  publishEnd(*instance, frame.fields[1] == "1", frame.fields[2]);
  if (*instance == 0) {
    const std::lock_guard lock(mutex_);
    server_end_ = frame.fields[2];
  }
  return true;
}

// The program gets no word: poprun would stop it, too.
bool ClusterLink::aborted(const Frame& frame) {
  if (frame.fields.size() != 2) return false;
  if (!aborting_) {
    pop::Result<int> code = pop::contract::numberField(frame, 0);
    const bool can_be = code.ok() && *code >= 1 && *code <= 255;
    std::fprintf(stderr, "popdist: %s\n", pop::printable(frame.fields[1]).c_str());
    ::poll(nullptr, 0, kAbortSettles_ms);
    std::_Exit(can_be ? *code : EXIT_FAILURE);
  }
  const std::lock_guard lock(mutex_);
  abort_heard_ = true;
  changed_.notify_all();
  return true;
}

void ClusterLink::serverIsGone() {
  const std::string text = "instance 0 (" + roster_.tasks[0] + " at " + roster_.workers[0] +
                           ") is gone: it has crashed, or was killed";
  if (!closing_ && instance_ != 0) publishEnd(0, false, text);
  const std::lock_guard lock(mutex_);
  if (server_end_.empty()) server_end_ = text;
  changed_.notify_all();
}

void ClusterLink::publishEnd(int instance, bool clean, const std::string& text) {
  const auto known = static_cast<std::size_t>(instance);
  if (known_ends_[known]) return;
  known_ends_[known] = true;
  pop::contract::publishEndNotice(segment().header(), end_notices_++, instance, clean, text);
}

}  // namespace popdist::cluster
