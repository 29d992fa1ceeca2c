// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/keeper_link.h"

#include <algorithm>
#include <utility>

#include "common/sys/unix_socket.h"

namespace pop::agent {

using keeper::Kind;
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

}  // namespace

void KeeperLink::changeEnvironment(const std::vector<contract::Variable>& environment) {
  Message message{Kind::kEnvironment, {}, {}};
  for (const auto& [name, value] : environment) message.texts.push_back(name + '=' + value);
  ahead_ += keeper::encode(message);
  environment_ = environment;
}

void KeeperLink::spawn(const SpawnRequest& request, std::span<const int> descriptors) {
  if (!sameNames(request.environment, environment_)) changeEnvironment(request.environment);
  Message message{
      Kind::kSpawn,
      {.instance = request.instance, .descriptors = descriptors.size(), .arguments = request.argv.size()},
      {request.working_directory, request.binding.cpus.text(), request.binding.memory_nodes.text()}};
  message.texts.insert(message.texts.end(), request.argv.begin(), request.argv.end());
  for (std::size_t i = 0; i < environment_.size(); ++i) {
    const auto& [name, value] = request.environment[i];
    if (value != environment_[i].second) message.texts.push_back(name + '=' + value);
  }
  const Status sent = send(message, descriptors);
  if (sent.ok()) return;
  loop_.post([this, instance = request.instance, why = sent.message()] {
    if (!lost_) events_.spawn_failed(instance, contract::kExitLauncherFailed, why + " (see `ulimit -n`)");
  });
}

void KeeperLink::signal(int instance, int signal) {
  static_cast<void>(send({Kind::kSignal, {.instance = instance, .value = signal}, {}}));
}

void KeeperLink::endLeftovers() {
  static_cast<void>(send({Kind::kEndLeftovers, {}, {}}));
}

void KeeperLink::removeAtEnd(const std::string& path) {
  removed_at_end_.push_back(path);
  ahead_ += keeper::encode({Kind::kRemoveAtEnd, {}, {path}});
}

Status KeeperLink::send(const Message& message, std::span<const int> fds) {
  if (lost_) return {};
  Status sent = sys::sendAll(link_, ahead_ + keeper::encode(message), fds);
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
  while (const std::optional<Message> message = keeper::nextMessage(reader_)) handle(*message);
}

void KeeperLink::handle(const Message& message) {
  const int instance = message.numbers.instance;
  const int value = message.numbers.value;
  switch (message.kind) {
    case Kind::kSpawned:
      return events_.spawned(instance, value);
    case Kind::kSpawnFailed:
      return events_.spawn_failed(instance, value, message.texts.at(0));
    case Kind::kReaped:
      return events_.reaped(instance, contract::exitStatusFromWait(value));
    case Kind::kStoppedByTerminal:
      return events_.stopped_by_terminal(instance);
    case Kind::kLeftoversEnded:
      return events_.leftovers_ended(value != 0);
    default:
      POP_CHECK(false);
  }
}

}  // namespace pop::agent
