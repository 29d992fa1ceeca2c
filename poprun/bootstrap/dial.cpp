// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/dial.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <string_view>
#include <thread>

#include "common/base/text.h"

namespace pop {
namespace {

using Milliseconds = std::chrono::milliseconds;

struct Address {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
};

std::string numeric(const sockaddr* address, socklen_t bytes) {
  std::array<char, NI_MAXHOST> text{};
  ::getnameinfo(address, bytes, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return text.data();
}

std::string numeric(const Address& address) {
  return numeric(reinterpret_cast<const sockaddr*>(&address.storage), address.bytes);
}

struct Resolution {
  std::mutex mutex;
  bool done = false;
  int error = 0;
  int error_number = 0;
  std::vector<Address> addresses;
  sys::Fd event{::eventfd(0, EFD_CLOEXEC)};
};

void resolveInto(Resolution& result, const std::string& host, int port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  const int error_number = errno;
  const std::scoped_lock lock(result.mutex);
  result.done = true;
  result.error = error;
  result.error_number = error_number;
  for (const addrinfo* each = error == 0 ? list : nullptr; each != nullptr; each = each->ai_next) {
    Address& address = result.addresses.emplace_back();
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.bytes = each->ai_addrlen;
  }
  if (error == 0) ::freeaddrinfo(list);
}

Result<std::vector<Address>> resolve(const std::string& host, int port, const Wait& wait) {
  const auto result = std::make_shared<Resolution>();
  resolveInto(*result, host, port, AI_NUMERICHOST);
  if (result->error != 0) {
    result->done = false;
    // Detached: a name server that does not answer holds it for a while, and nobody has to wait for that.
    std::thread([result, host, port] {
      resolveInto(*result, host, port, 0);
      ::eventfd_write(result->event.get(), 1);
    }).detach();
    const Status status = wait.forEvents(result->event.get(), POLLIN);
    if (status.code() == Code::kDeadlineExceeded) {
      return Status(status.code(), "looking up its name: the name server gives " + status.message());
    }
    if (!status.ok()) return status;
  }
  const std::scoped_lock lock(result->mutex);
  if (result->error == 0) return std::move(result->addresses);
  const bool unknown = result->error == EAI_NONAME || result->error == EAI_NODATA;
  const char* why =
      result->error == EAI_SYSTEM ? ::strerror(result->error_number) : ::gai_strerror(result->error);
  return Status(
      unknown ? Code::kNotFound : Code::kUnavailable,
      "looking up its name " + inQuotes(host) + ": " + why +
          (unknown ? "; check its spelling, /etc/hosts, or give it a HostName in ~/.ssh/config" : ""));
}

Result<Connection> connectTo(const Address& address, int port, const Wait& wait) {
  Connection made{
      .socket = sys::Fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      .peer_address = numeric(address)};
  const std::string where = "connecting to " + made.peer_address + " port " + std::to_string(port);
  if (!made.socket.valid()) return errnoStatus(where, errno);
  int error = 0;
  if (::connect(made.socket.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.bytes) != 0) {
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

// The addresses in turn, each with its share of the time: an unroutable first one must not use it up.
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

// True: the server has something to say. False: it has closed the connection, or says that it is too busy.
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
    if (wait.left() <= Clock::duration::zero()) {
      return unavailable("connecting to " + made.peer_address + " port " + std::to_string(port) +
                         ": its SSH server closed " + counted(attempt + 1, "connection") +
                         " before its greeting; raise MaxStartups in its sshd_config, or look into its log");
    }
  }
}

}  // namespace pop
