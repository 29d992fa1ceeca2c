// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/network_door.h"

#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "common/log/log.h"

namespace pop::popdistd {
namespace {

constexpr std::chrono::milliseconds kPause{100};
constexpr int kMostAtOnce = 64;  // then others have their turn

void note(const std::string& line) {
  log::warning(line);
}

}  // namespace

NetworkDoor::NetworkDoor(os::EpollLoop& loop, os::Listener listener, DoorSettings settings,
                         std::unique_ptr<Acceptor> to)
    : loop_(loop),
      listener_(std::move(listener)),
      settings_(std::move(settings)),
      to_(std::move(to)),
      turned_away_(loop, note, "connections were turned away") {
  watch();
}

NetworkDoor::~NetworkDoor() {
  loop_.unwatch(listener_.socket.get());
  if (pause_) loop_.cancel(*pause_);
  while (!arriving_.empty()) endArrival(arriving_.begin()->first);
}

void NetworkDoor::watch() {
  loop_.watchReadable(listener_.socket.get(), [this] { acceptSome(); });
}

void NetworkDoor::acceptSome() {
  for (int i = 0; i < kMostAtOnce; ++i) {
    os::AcceptedConnection pending = os::acceptConnection(listener_.socket.get());
    if (pending.error_number != 0) return acceptLater(pending.error_number);
    if (!pending.socket.valid()) return;
    take(std::move(pending));
  }
}

// There may be no descriptors; the connection that waits would wake the loop over and over.
void NetworkDoor::acceptLater(int error_number) {
  turned_away_.add("cannot accept connections for now: " + std::string(std::strerror(error_number)) +
                   " (see `ulimit -n`, or LimitNOFILE= of its unit)");
  loop_.unwatch(listener_.socket.get());
  pause_ = loop_.postAfter(kPause, [this] {
    pause_.reset();
    watch();
  });
}

void NetworkDoor::take(os::AcceptedConnection pending) {
  const End peer{pending.address, pending.port};
  const Status admitted = settings_.connections->admit(pending.socket.get(), peer, loop_.now());
  if (!admitted.ok()) return turnAway(peer, admitted);
  const int socket = pending.socket.get();
  const TimerId deadline = loop_.postAfter(settings_.arrival_timeout, [this, socket] { endArrival(socket); });
  arriving_.try_emplace(socket, std::move(pending.socket), settings_.headers, peer, deadline);
  loop_.watchReadable(socket, [this, socket] { look(socket); });
}

void NetworkDoor::look(int socket) {
  Arrival& arrival = arriving_.at(socket).arrival;
  const Result<std::optional<End>> client = arrival.look();
  if (client.ok() && !client.value()) return;
  const End peer = arrival.peer();
  sys::Fd connection = endArrival(socket);
  if (client.ok()) handOver(std::move(connection), peer, *client.value());
}

sys::Fd NetworkDoor::endArrival(int socket) {
  const auto arriving = arriving_.extract(socket);
  loop_.cancel(arriving.mapped().deadline);
  loop_.unwatch(socket);
  return std::move(arriving.mapped().connection);
}

void NetworkDoor::handOver(sys::Fd socket, const End& peer, const End& client) {
  if (client != peer) {
    const Status admitted = settings_.connections->isPassedOn(peer, client, loop_.now());
    if (!admitted.ok()) return turnAway(client, admitted);
  }
  Acceptor::NewConnectionParameters connection;
  connection.listener_fd = listener_.socket.get();
  connection.fd = socket.release();
  to_->HandleNewConnection(&connection);
}

void NetworkDoor::turnAway(const End& client, const Status& why) {
  turned_away_.add("a connection from " + client.address + " is turned away: " + why.message());
}

}  // namespace pop::popdistd
