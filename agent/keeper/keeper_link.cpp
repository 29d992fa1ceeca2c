// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/keeper_link.h"

#include <algorithm>
#include <utility>

#include "agent/keeper/keeper_wire.h"
#include "common/sys/unix_socket.h"

namespace pop::agent {

using contract::Frame;
using keeper::intField;
using keeper::Message;

KeeperLink::KeeperLink(os::EpollLoop& loop, int link, Events events)
    : loop_(loop), link_(link), events_(std::move(events)) {
  loop_.watchReadable(link_, [this] { receive(); });
}

KeeperLink::~KeeperLink() {
  loop_.unwatch(link_);
}

namespace {

bool sameNames(const std::vector<contract::Variable>& a, const std::vector<contract::Variable>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const auto& one, const auto& other) { return one.first == other.first; });
}

std::string encoded(const Frame& frame) {
  Result<std::string> bytes = contract::encode(frame);
  POP_CHECK(bytes.ok());
  return std::move(*bytes);
}

}  // namespace

void KeeperLink::changeEnvironment(const std::vector<contract::Variable>& environment) {
  Frame frame{static_cast<std::uint8_t>(Message::kEnvironment), {}};
  for (const auto& [name, value] : environment) frame.fields.push_back(name + '=' + value);
  ahead_ += encoded(frame);
  environment_ = environment;
}

void KeeperLink::spawn(const SpawnRequest& request, std::span<const int> descriptors) {
  if (!sameNames(request.environment, environment_)) changeEnvironment(request.environment);
  Frame frame{static_cast<std::uint8_t>(Message::kSpawn),
              {std::to_string(request.instance), request.working_directory, request.binding.cpus.text(),
               request.binding.memory_nodes.text(), std::to_string(descriptors.size()),
               std::to_string(request.argv.size())}};
  frame.fields.insert(frame.fields.end(), request.argv.begin(), request.argv.end());
  for (std::size_t i = 0; i < environment_.size(); ++i) {
    const auto& [name, value] = request.environment[i];
    if (value != environment_[i].second) frame.fields.push_back(name + '=' + value);
  }
  const Status sent = send(frame, descriptors);
  if (sent.ok()) return;
  loop_.post([this, instance = request.instance, why = sent.message()] {
    if (!lost_) events_.spawn_failed(instance, contract::kExitLauncherFailed, why + " (see `ulimit -n`)");
  });
}

void KeeperLink::signal(int instance, int signal) {
  static_cast<void>(send(
      {static_cast<std::uint8_t>(Message::kSignal), {std::to_string(instance), std::to_string(signal)}}));
}

void KeeperLink::endLeftovers() {
  static_cast<void>(send({static_cast<std::uint8_t>(Message::kEndLeftovers), {}}));
}

void KeeperLink::removeAtEnd(const std::string& path) {
  removed_at_end_.push_back(path);
  ahead_ += encoded({static_cast<std::uint8_t>(Message::kRemoveAtEnd), {path}});
}

Status KeeperLink::send(const Frame& frame, std::span<const int> fds) {
  if (lost_) return {};
  Status sent = sys::sendAll(link_, ahead_ + encoded(frame), fds);
  if (sent.ok()) ahead_.clear();
  // receive() notices and reports once that the keeper is gone.
  return sent.code() == Code::kUnavailable ? Status() : sent;
}

void KeeperLink::receive() {
  Result<sys::Received> received = sys::receiveSome(link_);
  if (!received.ok() || (received->bytes.empty() && !received->would_block)) {
    lost_ = true;
    loop_.unwatch(link_);
    events_.lost();
    return;
  }
  reader_.append(received->bytes);
  while (true) {
    Result<std::optional<Frame>> frame = reader_.next();
    POP_CHECK(frame.ok());
    if (!frame->has_value()) return;
    handle(frame->value());
  }
}

void KeeperLink::handle(const Frame& frame) {
  const int instance = intField(frame, 0);
  switch (static_cast<Message>(frame.type)) {
    case Message::kSpawned:
      events_.spawned(instance, intField(frame, 1));
      break;
    case Message::kSpawnFailed:
      events_.spawn_failed(instance, intField(frame, 1), frame.fields.at(2));
      break;
    case Message::kReaped:
      events_.reaped(instance, contract::exitStatusFromWait(intField(frame, 1)));
      break;
    case Message::kStoppedByTerminal:
      events_.stopped_by_terminal(instance);
      break;
    case Message::kLeftoversEnded:
      events_.leftovers_ended(intField(frame, 0) != 0);
      break;
    default:
      POP_CHECK(false);
  }
}

}  // namespace pop::agent
