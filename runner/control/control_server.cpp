// SPDX-License-Identifier: Apache-2.0
#include "runner/control/control_server.h"

#include <unistd.h>

#include <csignal>
#include <utility>

#include "common/sys/unix_socket.h"

namespace pop::runner {

using ::popdist::v1::RunnerOrder;
using ::popdist::v1::RunnerReport;

namespace {

// A mistake of a script must not use up the descriptors of the job. More take the place of others, which
// connect again after a while: so --cancel always gets through.
constexpr std::size_t kMaxClients = 64;

constexpr std::size_t kMostOrderBytes = 64;
constexpr std::size_t kMostUnsentBytes = 4 << 10;

// Without room the client has not read an earlier message that says the same.
void trySend(wire::MessageStream& client, const RunnerReport& report) {
  if (client.unsentBytes() < kMostUnsentBytes) client.send(report);
}

RunnerReport appendedReport() {
  RunnerReport more;
  more.set_appended(true);
  return more;
}

}  // namespace

ControlServer::ControlServer(os::EpollLoop& loop, sys::Fd listener, DoorEvents events,
                             std::function<void()> begun)
    : loop_(loop), listener_(std::move(listener)), events_(std::move(events)), begun_(std::move(begun)) {
  loop_.watchReadable(listener_.get(), [this] { accept(); });
}

ControlServer::~ControlServer() {
  loop_.unwatch(listener_.get());
  if (close_) loop_.cancel(*close_);
}

void ControlServer::accept() {
  Result<sys::Fd> accepted = sys::acceptConnection(listener_.get());
  if (!accepted.ok() || !accepted->valid()) return;
  const Result<uid_t> user = sys::peerUser(accepted->get());
  if (!user.ok() || (user.value() != ::geteuid() && user.value() != 0)) return;
  if (clients_.size() >= kMaxClients) clients_.erase(clients_.begin());
  const std::uint64_t client = num_clients_++;
  auto stream = std::make_unique<wire::MessageStream>(
      loop_, std::move(*accepted), sys::Fd(),
      wire::MessageStream::Events{
          .message = [this, client](const std::string& message) { take(client, message); },
          .ended = [this, client](const Status&) { closeSoon(client); }});
  stream->setMostBytes(kMostOrderBytes);
  // What was appended since it connected, while it was not among the clients yet, has been told to the others
  // only.
  trySend(*clients_.emplace(client, std::move(stream)).first->second, appendedReport());
}

void ControlServer::take(std::uint64_t client, const std::string& message) {
  if (closing_.contains(client)) return;
  RunnerOrder order;
  if (!order.ParseFromString(message) || !passOn(order)) return closeSoon(client);
  RunnerReport done;
  done.set_passed_on(true);
  trySend(*clients_.at(client), done);
}

// False: it is no order of a client.
bool ControlServer::passOn(const RunnerOrder& order) const {
  if (!order.has_stop() && !order.has_signal()) return false;
  const int signal = order.has_stop() ? order.stop().signal() : order.signal();
  if (signal < 1 || signal >= NSIG) return false;
  order.has_stop() ? events_.stop(signal) : events_.signal(signal);
  return true;
}

void ControlServer::appended() {
  if (std::exchange(tells_, true)) return;
  loop_.postLast([this] {
    tells_ = false;
    for (const auto& [number, client] : clients_) trySend(*client, appendedReport());
  });
}

// A stream is not destroyed while it delivers.
void ControlServer::closeSoon(std::uint64_t client) {
  closing_.insert(client);
  if (close_) return;
  close_ = loop_.postAfter({}, [this] {
    close_.reset();
    for (const std::uint64_t each : std::exchange(closing_, {})) clients_.erase(each);
  });
}

}  // namespace pop::runner
