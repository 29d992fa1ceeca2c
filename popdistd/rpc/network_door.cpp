// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/network_door.h"

#include <algorithm>
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
  const int socket = pending.socket.get();
  const std::uint64_t number = taken_++;
  const TimerId deadline = loop_.postAfter(settings_.arrival_timeout, [this, number] { endArrival(number); });
  arriving_.try_emplace(number, std::move(pending.socket), settings_.headers, peer, deadline);
  ++arriving_from_[peer.address];
  loop_.watchReadable(socket, [this, number] { look(number); });
  limitArriving();
}

void NetworkDoor::limitArriving() {
  if (arriving_.size() <= settings_.most_arriving) return;
  const auto crowd = std::max_element(arriving_from_.begin(), arriving_from_.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto oldest = std::find_if(arriving_.begin(), arriving_.end(), [&](const auto& each) {
    return arriving_from_.at(each.second.arrival.peer().address) == crowd->second;
  });
  const End peer = oldest->second.arrival.peer();
  turnAway(peer, {Code::kResourceExhausted, "there are " + std::to_string(arriving_.size()) +
                                                " that say nothing, and it is the oldest of its address"});
  endArrival(oldest->first);
}

void NetworkDoor::look(std::uint64_t number) {
  Arrival& arrival = arriving_.at(number).arrival;
  const Result<std::optional<End>> client = arrival.look();
  if (client.ok() && !client.value()) return;
  const End peer = arrival.peer();
  sys::Fd connection = endArrival(number);
  if (client.ok()) handOver(std::move(connection), peer, *client.value());
}

sys::Fd NetworkDoor::endArrival(std::uint64_t number) {
  auto arriving = arriving_.extract(number);
  const auto from = arriving_from_.find(arriving.mapped().arrival.peer().address);
  if (--from->second == 0) arriving_from_.erase(from);
  loop_.cancel(arriving.mapped().deadline);
  loop_.unwatch(arriving.mapped().connection.get());
  return std::move(arriving.mapped().connection);
}

void NetworkDoor::handOver(sys::Fd socket, const End& peer, const End& client) {
  const Status admitted = settings_.connections->admit(socket.get(), peer, client, loop_.now());
  if (!admitted.ok()) return turnAway(client, admitted);
  Acceptor::NewConnectionParameters connection;
  connection.listener_fd = listener_.socket.get();
  connection.fd = socket.release();
  to_->HandleNewConnection(&connection);
}

void NetworkDoor::turnAway(const End& client, const Status& why) {
  turned_away_.add("a connection from " + client.address + " is turned away: " + why.message());
}

}  // namespace pop::popdistd
