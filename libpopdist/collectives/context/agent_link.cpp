// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/context/agent_link.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/base/text.h"
#include "common/contract/segment.h"
#include "common/sys/account_name.h"
#include "common/sys/unix_socket.h"
#include "libpopdist/collectives/context/memory_link.h"

namespace popdist::context {
namespace {

using pop::Code;
using pop::Status;
using pop::contract::Frame;
using pop::contract::InstanceMessage;

// A thread that waits for a word in shared memory does not notice that the socket was closed, so it checks.
// Nothing tells a process that it was stopped either.
constexpr std::chrono::milliseconds kLongestSleep{100};

Status agentGone() {
  return pop::unavailable("the connection to poprun's agent is gone: has poprun ended, or was it killed?");
}

// The agent closes their connections.
Status ofAnotherUser(uid_t agents) {
  return {Code::kPermissionDenied,
          "this process runs as user " + pop::sys::userText(::geteuid()) + ", and poprun's agent as " +
              pop::sys::userText(agents) +
              ", which takes connections of its own user: start poprun as the user of the "
              "program, or the program as poprun's user"};
}

// Another thread may be in the middle of a frame, for as long as its own deadline lets it.
bool lockBefore(pop::sys::AwakeClock::time_point deadline, std::unique_lock<std::mutex>& lock) {
  while (!lock.try_lock()) {
    if (pop::sys::AwakeClock::now() >= deadline) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

LinkError errorFrom(const Frame& frame) {
  if (frame.fields.size() != 3) return {{Code::kDataLoss, "malformed error from the agent"}};
  const pop::Result<std::int64_t> code = pop::parseInteger(frame.fields[0]);
  const pop::Result<std::int64_t> instance = pop::parseInteger(frame.fields[1]);
  const bool known = code.ok() && code.value() > 0 && code.value() <= 15;
  return {{known ? static_cast<Code>(code.value()) : Code::kUnknown, frame.fields[2]},
          instance.ok() ? static_cast<int>(instance.value()) : -1};
}

LinkError unexpected(const Frame& frame) {
  if (static_cast<InstanceMessage>(frame.type) == InstanceMessage::kError) return errorFrom(frame);
  return {{Code::kDataLoss, "unexpected message " + std::to_string(frame.type) + " from the agent"}};
}

}  // namespace

pop::Result<std::unique_ptr<AgentLink>> AgentLink::connect(const pop::contract::InstanceEnv& env,
                                                           std::chrono::milliseconds timeout,
                                                           std::chrono::milliseconds answer_slack) {
  pop::Result<pop::sys::Fd> socket = pop::sys::connectAbstract(env.agent_socket);
  if (!socket.ok()) {
    return pop::unavailable("cannot reach poprun's agent: " + socket.status().message() +
                            " (has poprun ended, or is this process in another network namespace?)");
  }
  const pop::Result<uid_t> owner = pop::sys::peerUser(socket->get());
  if (!owner.ok()) return owner.status();
  if (owner.value() != ::geteuid() && owner.value() != 0) return ofAnotherUser(owner.value());
  std::unique_ptr<AgentLink> link(new AgentLink(std::move(*socket), answer_slack));
  if (LinkError error = link->hello(env, timeout); !error.ok())
    return owner.value() == ::geteuid() ? std::move(error.status) : ofAnotherUser(owner.value());
  return link;
}

LinkError AgentLink::hello(const pop::contract::InstanceEnv& env, std::chrono::milliseconds timeout) {
  const std::lock_guard lock(call_mutex_);
  if (LinkError error = send(
          InstanceMessage::kHello,
          {std::to_string(pop::contract::kInstanceProtocol), std::to_string(env.instance_index), env.job_id,
           std::to_string(mappableSegmentBytes(static_cast<std::size_t>(env.num_instances)))},
          Clock::now() + timeout);
      !error.ok()) {
    return error;
  }
  Frame welcome;
  if (LinkError error = receive(Clock::now() + timeout, welcome); !error.ok()) return error;
  if (static_cast<InstanceMessage>(welcome.type) != InstanceMessage::kWelcome) return unexpected(welcome);
  const pop::Result<int> cores = pop::contract::numberField(welcome, 3);
  const pop::Result<std::int64_t> bytes = pop::parseInteger(welcome.fields.empty() ? "" : welcome.fields[0]);
  if (!bytes.ok() || !cores.ok() || received_fds_.size() != 1)
    return {{Code::kDataLoss, "malformed welcome from the agent"}};
  pop::Result<pop::sys::Mapping> mapped =
      pop::sys::mapShared(received_fds_.front().get(), static_cast<std::size_t>(bytes.value()));
  if (!mapped.ok()) return {mapped.status()};
  segment_ = std::move(*mapped);
  network_ = {welcome.fields[1], welcome.fields[2]};
  host_cores_ = cores.value();
  received_fds_.clear();
  if (segment().header()->magic != pop::contract::kSegmentMagic) {
    return {pop::failedPrecondition(
        "the agent's shared memory does not have the layout that this libpopdist expects: build the program "
        "against the version of poprun")};
  }
  fence_ = HostFence(segment().header(), {.instance = env.instance_index,
                                          .first_of_host = env.instance_index - env.local_instance_index,
                                          .instances_of_host = env.num_local_instances});
  return {};
}

// A forked child shares the socket and the rings with its parent: the two would take each other's messages.
LinkError AgentLink::usable() const {
  if (fork_ != pop::sys::forksOfThisProcess()) {
    return {pop::failedPrecondition(
        "this process was forked from the one that owns the context; only that one can use it")};
  }
  if (out_of_step_) return {pop::failedPrecondition("an earlier call timed out waiting for poprun's agent")};
  return {};
}

LinkError AgentLink::put(const std::string& key, const std::string& value,
                         std::chrono::milliseconds timeout) {
  if (LinkError error = usable(); !error.ok()) return error;
  LinkError error = send(InstanceMessage::kPut, {key, value}, Clock::now() + timeout);
  has_put_ = true;  // afterwards: the message of the fence that this decides on follows the put
  return error;
}

LinkError AgentLink::ask(InstanceMessage question, const std::string& key, std::chrono::milliseconds timeout,
                         InstanceMessage answer, Frame& reply) {
  const std::lock_guard lock(call_mutex_);
  if (LinkError error = usable(); !error.ok()) return error;
  const Clock::time_point deadline = Clock::now() + timeout + answer_slack_;
  if (LinkError error = send(question, {key}, deadline); !error.ok()) return error;
  if (LinkError error = receive(deadline, reply); !error.ok()) return error;
  const bool fits = static_cast<InstanceMessage>(reply.type) == answer && reply.fields.size() % 2 == 0;
  return fits ? LinkError() : unexpected(reply);
}

LinkError AgentLink::get(const std::string& key, std::chrono::milliseconds timeout,
                         std::optional<std::string>& value) {
  Frame reply;
  LinkError error = ask(InstanceMessage::kGet, key, timeout, InstanceMessage::kValue, reply);
  if (error.ok() && reply.fields.empty()) return unexpected(reply);
  value.reset();
  if (error.ok() && reply.fields[0] == "1") value = std::move(reply.fields[1]);
  return error;
}

LinkError AgentLink::getAll(const std::string& prefix, std::chrono::milliseconds timeout, Values& values) {
  Frame reply;
  LinkError error = ask(InstanceMessage::kGetAll, prefix, timeout, InstanceMessage::kValues, reply);
  values.clear();
  for (std::size_t i = 0; error.ok() && i < reply.fields.size(); i += 2)
    values.insert_or_assign(std::move(reply.fields[i]), std::move(reply.fields[i + 1]));
  return error;
}

// The agent must receive every put before it counts the fence as reached: only messages on the socket keep
// their order.
LinkError AgentLink::fence(const std::string& tag, std::chrono::milliseconds timeout,
                           const Meanwhile& meanwhile) {
  const std::lock_guard lock(call_mutex_);
  if (LinkError error = usable(); !error.ok()) return error;
  const bool has_put = has_put_.exchange(false);
  if (has_put || !fence_.canHold(tag)) {
    fence_.enterByMessage(tag);
    return fenceByMessage(tag, timeout, meanwhile);
  }
  if (fence_.enter(tag)) {
    if (LinkError error = send(InstanceMessage::kLook, {}, Clock::now() + timeout + answer_slack_);
        !error.ok())
      return error;
  }
  return awaitAnswer(timeout, meanwhile);
}

LinkError AgentLink::fenceByMessage(const std::string& tag, std::chrono::milliseconds timeout,
                                    const Meanwhile& meanwhile) {
  const Clock::time_point deadline = Clock::now() + timeout + answer_slack_;
  if (LinkError error = send(InstanceMessage::kFence, {std::to_string(timeout.count()), tag}, deadline);
      !error.ok())
    return error;
  Frame reply;
  if (LinkError error = receive(deadline, reply, meanwhile); !error.ok()) return error;
  if (static_cast<InstanceMessage>(reply.type) != InstanceMessage::kFenceReleased) return unexpected(reply);
  return {};
}

// The answer is in the slot; or on the socket, if it is an error or the agent has ended.
LinkError AgentLink::awaitAnswer(std::chrono::milliseconds timeout, const Meanwhile& meanwhile) {
  Clock::time_point now = Clock::now();
  Clock::time_point next_look = now + kLongestSleep;
  Clock::time_point end = now + timeout;  // the fence's time, and then the agent's to answer
  bool late = false;
  while (true) {
    const HostFence::Answer answer = fence_.answer();
    if (answer.there && !answer.failed) return {};
    if (answer.there || (late && now >= end) || (now >= next_look && hasReceived())) {
      Frame reply;
      if (LinkError error = receive(answer.there ? now + answer_slack_ : end, reply); !error.ok())
        return error;
      return unexpected(reply);
    }
    if (now >= end) {
      late = true;
      if (LinkError error =
              send(InstanceMessage::kFenceLate, {std::to_string(fence_.entry())}, now + answer_slack_);
          !error.ok())
        return error;
      now = Clock::now();
      end = now + answer_slack_;  // not of the fence's end: this process may have stood still since
    }
    if (now >= next_look) {
      next_look = now + kLongestSleep;
      if (meanwhile) meanwhile();
    }
    fence_.sleep(answer, std::chrono::ceil<std::chrono::milliseconds>(std::min(next_look, end) - now));
    now = Clock::now();
  }
}

bool AgentLink::hasReceived() const {
  pollfd readable{socket_.get(), POLLIN, 0};
  return ::poll(&readable, 1, 0) > 0;
}

// Does not wait behind a call, nor for long behind a send: a watchdog's abort exists for just that case.
void AgentLink::abort(int exit_code, const std::string& message) {
  if (!send(InstanceMessage::kAbort, {std::to_string(exit_code), message}, Clock::now() + answer_slack_).ok())
    return;
  // The agent may notice the exit before the message, so give it time to read the message. If another thread
  // waits for an answer, it takes this one, which no longer matters.
  const std::unique_lock lock(call_mutex_, std::try_to_lock);
  Frame ignored;
  if (lock.owns_lock() && !receive(Clock::now() + answer_slack_, ignored).ok()) return;
}

LinkError AgentLink::send(InstanceMessage type, std::vector<std::string> fields, Clock::time_point deadline) {
  const pop::Result<std::string> bytes =
      pop::contract::encode({static_cast<std::uint8_t>(type), std::move(fields)});
  if (!bytes.ok()) return {bytes.status()};
  std::unique_lock lock(send_mutex_, std::defer_lock);
  if (lockBefore(deadline, lock) && !cut_off_) {
    const Status sent = pop::sys::sendAllUntil(socket_.get(), bytes.value(), deadline);
    if (sent.ok()) return {};
    if (sent.code() != Code::kDeadlineExceeded) return {agentGone()};
    cut_off_ = true;
  }
  out_of_step_ = true;
  return {{Code::kDeadlineExceeded,
           "poprun's agent read nothing before the deadline (Context::setTimeout); is it stopped?"}};
}

LinkError AgentLink::receive(Clock::time_point deadline, Frame& reply, const Meanwhile& meanwhile) {
  while (true) {
    pop::Result<std::optional<Frame>> frame = reader_.next();
    if (!frame.ok()) return {frame.status()};
    if (frame->has_value()) {
      reply = std::move(**frame);
      return {};
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd readable{socket_.get(), POLLIN, 0};
    // Checks even after the deadline: the answer may have arrived while this process was stopped.
    const auto sleep = std::clamp(left, std::chrono::milliseconds(0), kLongestSleep);
    const int ready = ::poll(&readable, 1, static_cast<int>(sleep.count()));
    if (ready < 0 && errno != EINTR) return {pop::errnoStatus("waiting for the agent", errno)};
    if (ready == 0 && left.count() <= 0) {
      out_of_step_ = true;
      return {{Code::kDeadlineExceeded, "poprun's agent did not answer before the deadline"}};
    }
    if (ready == 0 && meanwhile) meanwhile();
    pop::Result<pop::sys::Received> received = pop::sys::receiveSome(socket_.get());
    if (!received.ok()) return {agentGone()};
    if (received->would_block) continue;
    if (received->bytes.empty()) return {agentGone()};
    for (pop::sys::Fd& fd : received->fds) received_fds_.push_back(std::move(fd));
    reader_.append(received->bytes);
  }
}

}  // namespace popdist::context
