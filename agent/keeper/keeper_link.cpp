// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/keeper_link.h"

#include "agent/keeper/keeper_wire.h"
#include "common/sys/unix_socket.h"

namespace pop::agent {

using contract::Frame;
using keeper::intField;
using keeper::Message;

KeeperLink::KeeperLink(os::AsioLoop& loop, int link, Events events)
    : loop_(loop), link_(link), events_(std::move(events)) {
  loop_.watchReadable(link_, [this] { receive(); });
}

KeeperLink::~KeeperLink() {
  loop_.unwatch(link_);
}

void KeeperLink::spawn(const SpawnRequest& request, const std::array<int, 3>& stdio) {
  Frame frame{static_cast<std::uint8_t>(Message::kSpawn),
              {std::to_string(request.instance), request.working_directory, request.binding.cpus.text(),
               request.binding.memory_nodes.text(), std::to_string(request.argv.size())}};
  frame.fields.insert(frame.fields.end(), request.argv.begin(), request.argv.end());
  for (const auto& [name, value] : request.environment) frame.fields.push_back(name + '=' + value);
  send(frame, stdio);
}

void KeeperLink::signal(int instance, int signal) {
  send({static_cast<std::uint8_t>(Message::kSignal), {std::to_string(instance), std::to_string(signal)}});
}

void KeeperLink::endLeftovers() {
  send({static_cast<std::uint8_t>(Message::kEndLeftovers), {}});
}

void KeeperLink::removeAtEnd(const std::string& path) {
  send({static_cast<std::uint8_t>(Message::kRemoveAtEnd), {path}});
}

void KeeperLink::send(const Frame& frame, std::span<const int> fds) {
  if (lost_) return;
  Result<std::string> bytes = contract::encode(frame);
  POP_CHECK(bytes.ok());
  // A failure means that the keeper is gone; receive() finds the end of the stream and reports it once.
  if (const Status sent = sys::sendAll(link_, *bytes, fds); !sent.ok()) return;
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
    case Message::kLeftoversEnded:
      events_.leftovers_ended();
      break;
    default:
      POP_CHECK(false);
  }
}

}  // namespace pop::agent
