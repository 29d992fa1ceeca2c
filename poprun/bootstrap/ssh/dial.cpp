// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/dial.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <string_view>

#include "common/base/text.h"
#include "common/os/name_lookup.h"

namespace pop {
namespace {

using Milliseconds = std::chrono::milliseconds;

using os::Address;
using os::numeric;

Result<std::vector<Address>> resolve(const std::string& host, int port, const Wait& wait) {
  const os::NameLookup lookup(host, port);
  if (lookup.event() >= 0) {
    const Status status = wait.forEvents(lookup.event(), POLLIN);
    if (status.code() == Code::kDeadlineExceeded) {
      return Status(status.code(), "looking up its name: the name server gave " + status.message());
    }
    if (!status.ok()) return status;
  }
  Result<std::vector<Address>> addresses = lookup.addresses();
  if (addresses.code() != Code::kNotFound) return addresses;
  return Status(Code::kNotFound,
                addresses.status().message() +
                    "; check its spelling, /etc/hosts, or give it a HostName in ~/.ssh/config");
}

Result<Connection> connectTo(const Address& address, int port, const Wait& wait) {
  Connection made{
      .socket = sys::Fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      .peer_address = numeric(address)};
  const std::string where = "connecting to " + made.peer_address + " port " + std::to_string(port);
  if (!made.socket.valid()) return errnoStatus(where, errno);
  int error = 0;
  if (::connect(made.socket.get(), address.get(), address.bytes) != 0) {
    error = errno;
  }
  if (error == EINPROGRESS) {
    Status status = wait.forEvents(made.socket.get(), POLLOUT);
    if (!status.ok()) return Status(status.code(), where + ": " + status.message());
    socklen_t bytes = sizeof(error);
    if (::getsockopt(made.socket.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) error = errno;
  }
  if (error != 0) return Status(Code::kUnavailable, where + ": " + ::strerror(error));
  const int on = 1;
  // Authentication consists of small packets: with Nagle's algorithm it takes 56 ms instead of 8.
  ::setsockopt(made.socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  Address local;
  local.bytes = sizeof(local.storage);
  if (::getsockname(made.socket.get(), reinterpret_cast<sockaddr*>(&local.storage), &local.bytes) == 0) {
    made.local_address = numeric(local);
  }
  return made;
}

// Tries the addresses in turn, each with a share of the time: an unroutable first one must not use it all.
Result<Connection> connectToOne(const std::vector<Address>& addresses, int port, const Wait& wait) {
  Status first;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto left = std::chrono::ceil<Milliseconds>(wait.left());
    const Wait share(wait.cancellation(), left / static_cast<long>(addresses.size() - i));
    Result<Connection> made = connectTo(addresses[i], port, addresses.size() == 1 ? wait : share);
    if (made.ok() || made.code() == Code::kCancelled) return made;
    if (first.ok()) first = made.status();
  }
  return first;
}

// True: the server has sent its greeting. False: it has closed the connection, or reports that it is too
// busy.
Result<bool> greets(int socket, const Wait& wait) {
  Status status = wait.forEvents(socket, POLLIN);
  if (status.code() == Code::kDeadlineExceeded) {
    return Status(status.code(), "waiting for the greeting of its SSH server: " + status.message());
  }
  if (!status.ok()) return status;
  std::array<char, 64> text{};
  const ssize_t got = ::recv(socket, text.data(), text.size(), MSG_PEEK);
  if (got <= 0) return false;
  const std::string_view greeting(text.data(), static_cast<std::size_t>(got));
  return !greeting.starts_with("Exceeded MaxStartups") && !greeting.starts_with("Not allowed at this time");
}

Milliseconds backoff(int attempt) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const int base = std::min(1000, 40 << std::min(attempt, 5));
  return Milliseconds(std::uniform_int_distribution<int>(base / 2, base + base / 2)(random));
}

}  // namespace

Result<Connection> dialSsh(const std::string& host, int port, const Wait& wait, const PhaseReport& phase) {
  phase("resolving");
  POP_ASSIGN_OR_RETURN(const std::vector<Address> addresses, resolve(host, port, wait));
  for (int attempt = 0;; ++attempt) {
    phase("connecting");
    POP_ASSIGN_OR_RETURN(Connection made, connectToOne(addresses, port, wait));
    POP_ASSIGN_OR_RETURN(const bool greeted, greets(made.socket.get(), wait));
    if (greeted) return made;
    POP_RETURN_IF_ERROR(wait.pause(backoff(attempt)));
    if (wait.left() <= Wait::Clock::duration::zero()) {
      return unavailable("connecting to " + made.peer_address + " port " + std::to_string(port) +
                         ": its SSH server closed " + counted(attempt + 1, "connection") +
                         " before its greeting; raise MaxStartups in its sshd_config, or look into its log");
    }
  }
}

// The phase is the reason, so that a user who has mistyped the name sees it while there is time left.
Result<Connection> dialSshPatiently(const std::string& host, int port, const Wait& wait,
                                    const PhaseReport& phase) {
  Status first;
  for (int attempt = 0;; ++attempt) {
    Result<Connection> made = dialSsh(host, port, wait, phase);
    if (made.ok() || made.code() == Code::kCancelled) return made;
    if (first.ok() || made.code() != Code::kDeadlineExceeded) first = made.status();
    phase(first.message());
    POP_RETURN_IF_ERROR(wait.pause(backoff(attempt)));
    if (wait.left() <= Wait::Clock::duration::zero()) return first;
  }
}

}  // namespace pop
