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

NetworkDoor::NetworkDoor(os::EpollLoop& loop, os::Listener listener, std::shared_ptr<Connections> connections,
                         std::unique_ptr<Acceptor> to)
    : loop_(loop),
      listener_(std::move(listener)),
      connections_(std::move(connections)),
      to_(std::move(to)),
      turned_away_(loop, note, "connections were turned away") {
  watch();
}

NetworkDoor::~NetworkDoor() {
  loop_.unwatch(listener_.socket.get());
  if (pause_) loop_.cancel(*pause_);
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
  const Status admitted =
      connections_->admit(pending.socket.get(), pending.address, std::to_string(pending.port), loop_.now());
  if (!admitted.ok())
    return turned_away_.add("a connection from " + pending.address +
                            " is turned away: " + admitted.message());
  Acceptor::NewConnectionParameters connection;
  connection.listener_fd = listener_.socket.get();
  connection.fd = pending.socket.release();
  to_->HandleNewConnection(&connection);
}

}  // namespace pop::popdistd
