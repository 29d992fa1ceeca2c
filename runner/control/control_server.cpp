// SPDX-License-Identifier: Apache-2.0
#include "runner/control/control_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/check.h"
#include "common/sys/unix_socket.h"
#include "runner/control/control_wire.h"

namespace pop::runner {
namespace {

// A mistake of a script must not use up the descriptors of the job. More take the place of others, which
// connect again after a while: so --cancel always gets through.
constexpr std::size_t kMaxClients = 64;

std::string bytesOf(ControlMessage message) {
  Result<std::string> bytes = contract::encode({static_cast<std::uint8_t>(message), {}});
  POP_CHECK(bytes.ok());
  return std::move(*bytes);
}

// Without room in its socket the client has not read an earlier message that says the same.
void trySend(int fd, std::string_view bytes) {
  static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace

ControlServer::ControlServer(os::EpollLoop& loop, sys::Fd listener, DoorEvents events,
                             std::function<void()> begun)
    : loop_(loop), listener_(std::move(listener)), events_(std::move(events)), begun_(std::move(begun)) {
  loop_.watchReadable(listener_.get(), [this] { accept(); });
}

ControlServer::~ControlServer() {
  loop_.unwatch(listener_.get());
  for (const auto& [fd, client] : clients_) loop_.unwatch(fd);
}

void ControlServer::accept() {
  Result<sys::Fd> accepted = sys::acceptConnection(listener_.get());
  if (!accepted.ok() || !accepted->valid()) return;
  const Result<uid_t> user = sys::peerUser(accepted->get());
  if (!user.ok() || (user.value() != ::geteuid() && user.value() != 0)) return;
  if (clients_.size() >= kMaxClients) close(clients_.begin()->first);
  const int fd = accepted->get();
  clients_.try_emplace(fd, Client{std::move(*accepted), contract::FrameReader(kMaxControlBytes)});
  loop_.watchReadable(fd, [this, fd] { receive(fd); });
}

void ControlServer::receive(int fd) {
  const Result<sys::Received> received = sys::receiveSome(fd);
  if (!received.ok() || (received.value().bytes.empty() && !received.value().would_block)) return close(fd);
  contract::FrameReader& reader = clients_.at(fd).reader;
  reader.append(received.value().bytes);
  while (true) {
    const Result<std::optional<contract::Frame>> frame = reader.next();
    if (!frame.ok()) return close(fd);
    if (!frame.value()) return;
    if (!handle(fd, *frame.value())) return close(fd);
  }
}

// False: it is no message of a client.
bool ControlServer::handle(int fd, const contract::Frame& frame) {
  const Result<int> signal = frame.fields.empty() ? invalidArgument("") : contract::numberField(frame, 0);
  if (!signal.ok() || signal.value() < 1 || signal.value() >= NSIG) return false;
  switch (static_cast<ControlMessage>(frame.type)) {
    case ControlMessage::kStop:
      events_.stop(signal.value());
      break;
    case ControlMessage::kSignal:
      events_.signal(signal.value());
      break;
    default:
      return false;
  }
  trySend(fd, bytesOf(ControlMessage::kDone));
  return true;
}

void ControlServer::appended() {
  if (std::exchange(tells_, true)) return;
  loop_.postLast([this] {
    tells_ = false;
    const std::string more = bytesOf(ControlMessage::kMore);
    for (const auto& [fd, client] : clients_) trySend(fd, more);
  });
}

void ControlServer::close(int fd) {
  loop_.unwatch(fd);
  clients_.erase(fd);
}

}  // namespace pop::runner
