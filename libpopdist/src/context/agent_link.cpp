// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/context/agent_link.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "common/base/text.h"
#include "common/contract/segment.h"
#include "common/sys/unix_socket.h"

namespace popdist::context {
namespace {

using pop::Code;
using pop::Status;
using pop::contract::Frame;
using pop::contract::InstanceMessage;

// The agent answers a late fence with the names of those who are missing: give that answer a moment to
// arrive.
constexpr std::chrono::milliseconds kAnswerSlack{1000};

Status agentGone() {
  return pop::unavailable("the connection to poprun's agent is gone: has poprun ended, or was it killed?");
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
                                                           std::chrono::milliseconds timeout) {
  pop::Result<pop::sys::Fd> socket = pop::sys::connectAbstract(env.agent_socket);
  if (!socket.ok()) {
    return pop::unavailable("cannot reach poprun's agent: " + socket.status().message() +
                            " (has poprun ended, or is this process in another network namespace?)");
  }
  std::unique_ptr<AgentLink> link(new AgentLink(std::move(*socket)));
  if (LinkError error = link->hello(env, timeout); !error.ok()) return std::move(error.status);
  return link;
}

LinkError AgentLink::hello(const pop::contract::InstanceEnv& env, std::chrono::milliseconds timeout) {
  const std::lock_guard lock(mutex_);
  if (LinkError error = send(InstanceMessage::kHello, {std::to_string(pop::contract::kInstanceProtocol),
                                                       std::to_string(env.instance_index), env.job_id});
      !error.ok()) {
    return error;
  }
  Frame welcome;
  if (LinkError error = receive(Clock::now() + timeout, welcome); !error.ok()) return error;
  if (static_cast<InstanceMessage>(welcome.type) != InstanceMessage::kWelcome) return unexpected(welcome);
  const bool expected_segment = welcome.fields.size() == 1 && received_fds_.size() == 1 &&
                                welcome.fields[0] == std::to_string(pop::contract::kSegmentBytes);
  if (!expected_segment) {
    return {
        pop::failedPrecondition("the agent's shared memory has another form than this libpopdist expects; "
                                "build the program against the same version")};
  }
  pop::Result<pop::sys::Mapping> mapped =
      pop::sys::mapShared(received_fds_.front().get(), pop::contract::kSegmentBytes);
  if (!mapped.ok()) return {mapped.status()};
  segment_ = std::move(*mapped);
  received_fds_.clear();
  return {};
}

LinkError AgentLink::put(const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  return send(InstanceMessage::kPut, {key, value});
}

LinkError AgentLink::get(const std::string& key, std::chrono::milliseconds timeout,
                         std::optional<std::string>& value) {
  const std::lock_guard lock(mutex_);
  if (LinkError error = send(InstanceMessage::kGet, {key}); !error.ok()) return error;
  Frame reply;
  if (LinkError error = receive(Clock::now() + timeout, reply); !error.ok()) return error;
  if (static_cast<InstanceMessage>(reply.type) != InstanceMessage::kValue || reply.fields.size() != 2) {
    return unexpected(reply);
  }
  value.reset();
  if (reply.fields[0] == "1") value = std::move(reply.fields[1]);
  return {};
}

LinkError AgentLink::fence(std::chrono::milliseconds timeout) {
  const std::lock_guard lock(mutex_);
  if (LinkError error = send(InstanceMessage::kFence, {std::to_string(timeout.count())}); !error.ok())
    return error;
  Frame reply;
  if (LinkError error = receive(Clock::now() + timeout + kAnswerSlack, reply); !error.ok()) return error;
  if (static_cast<InstanceMessage>(reply.type) != InstanceMessage::kFenceReleased) return unexpected(reply);
  return {};
}

void AgentLink::abort(int exit_code, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (!send(InstanceMessage::kAbort, {std::to_string(exit_code), message}).ok()) return;
  // Once this process has exited, the exit may be noticed before the message: let the message be taken first.
  Frame ignored;
  if (!receive(Clock::now() + kAnswerSlack, ignored).ok()) return;
}

LinkError AgentLink::send(InstanceMessage type, std::vector<std::string> fields) {
  const pop::Result<std::string> bytes =
      pop::contract::encode({static_cast<std::uint8_t>(type), std::move(fields)});
  if (!bytes.ok()) return {bytes.status()};
  if (!pop::sys::sendAll(socket_.get(), bytes.value()).ok()) return {agentGone()};
  return {};
}

LinkError AgentLink::receive(Clock::time_point deadline, Frame& reply) {
  while (true) {
    pop::Result<std::optional<Frame>> frame = reader_.next();
    if (!frame.ok()) return {frame.status()};
    if (frame->has_value()) {
      reply = std::move(**frame);
      return {};
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return {{Code::kDeadlineExceeded, "poprun's agent does not answer"}};
    pollfd readable{socket_.get(), POLLIN, 0};
    const int wait_ms = static_cast<int>(std::min<std::int64_t>(left.count() + 1, 60'000));
    if (::poll(&readable, 1, wait_ms) < 0 && errno != EINTR)
      return {pop::errnoStatus("waiting for the agent", errno)};
    pop::Result<pop::sys::Received> received = pop::sys::receiveSome(socket_.get());
    if (!received.ok()) return {agentGone()};
    if (received->would_block) continue;
    if (received->bytes.empty()) return {agentGone()};
    for (pop::sys::Fd& fd : received->fds) received_fds_.push_back(std::move(fd));
    reader_.append(received->bytes);
  }
}

}  // namespace popdist::context
