// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/mpi/pmi_server.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include "common/sys/blocked_signals.h"
#include "libpopdist/backends/mpi/pmi_answers.h"

namespace popdist::backends {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kMaxLineBytes = 4096;

// A connection begins with the secret, a blank and the rank in six digits. Clients that send anything else
// are rejected.
constexpr std::size_t kGreetingBytes = kSecretBytes + 7;

constexpr std::size_t kMaxUnauthenticated = 64;  ///< besides the ranks
constexpr std::chrono::seconds kGreetingTimeout{10};

// When no descriptor is left, a connection cannot be accepted and poll() would return at once: so the server
// pauses.
constexpr std::chrono::milliseconds kPause{100};

using Clock = std::chrono::steady_clock;

std::string greetingOf(const std::string& secret, int rank) {
  const std::string digits = std::to_string(rank);
  return secret + ' ' + std::string(6 - digits.size(), '0') + digits;
}

std::string newSecret() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  std::string secret;
  for (std::size_t i = 0; i < kSecretBytes; ++i) secret += kDigits[random() % kDigits.size()];
  return secret;
}

struct Resolved {
  sockaddr_storage address{};
  socklen_t bytes = 0;
};

// Numeric addresses only: no name is looked up.
pop::Result<Resolved> resolve(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) return pop::invalidArgument("address '" + host + "': " + ::gai_strerror(failed));
  Resolved resolved;
  resolved.bytes = found->ai_addrlen;
  std::copy_n(reinterpret_cast<const char*>(found->ai_addr), found->ai_addrlen,
              reinterpret_cast<char*>(&resolved.address));
  ::freeaddrinfo(found);
  return resolved;
}

pop::Result<pop::sys::Fd> socketFor(const Resolved& resolved) {
  pop::sys::Fd socket(::socket(resolved.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return pop::errnoStatus("socket", errno);
  return socket;
}

const sockaddr* plain(const Resolved& resolved) {
  return reinterpret_cast<const sockaddr*>(&resolved.address);
}

std::string portOf(const pop::sys::Fd& socket) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &bytes);
  std::array<char, NI_MAXSERV> port{};
  ::getnameinfo(reinterpret_cast<sockaddr*>(&address), bytes, nullptr, 0, port.data(), port.size(),
                NI_NUMERICSERV);
  return port.data();
}

class PmiServer {
 public:
  PmiServer(pop::sys::Fd listener, std::string secret, int ranks)
      : listener_(std::move(listener)),
        secret_(std::move(secret)),
        ranks_(ranks),
        answers_(ranks),
        clients_(static_cast<std::size_t>(ranks)) {}

  void serve();

 private:
  struct Client {
    pop::sys::Fd connection;
    std::string unfinished;
  };

  struct PendingConnection {
    pop::sys::Fd connection;
    std::string greeting;  ///< as far as it has come
    Clock::time_point until;
  };

  int timeout() const;
  void acceptConnection();
  void readPending();
  bool isSilent(PendingConnection& pending);
  bool talk(int rank);

  const pop::sys::Fd listener_;
  const std::string secret_;
  const int ranks_;
  PmiAnswers answers_;
  std::vector<Client> clients_;
  std::deque<PendingConnection> pending_;  ///< the oldest first
  Clock::time_point accepts_from_;         ///< later than now: out of descriptors
};

void PmiServer::serve() {
  std::vector<pollfd> polled;
  while (true) {
    const bool accepts = Clock::now() >= accepts_from_;
    polled.assign(1, {accepts ? listener_.get() : -1, POLLIN, 0});
    for (const Client& client : clients_) polled.push_back({client.connection.get(), POLLIN, 0});
    for (const PendingConnection& pending : pending_) polled.push_back({pending.connection.get(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), timeout()) < 0 && errno != EINTR) return;
    for (int rank = 0; rank < ranks_; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      if (polled[index + 1].revents != 0 && !talk(rank)) clients_[index].connection.reset();
    }
    readPending();
    if (polled.front().revents != 0) acceptConnection();
  }
}

// The timeout for poll(): until the oldest pending connection times out, or the pause ends.
int PmiServer::timeout() const {
  const Clock::time_point now = Clock::now();
  Clock::time_point until = pending_.empty() ? Clock::time_point::max() : pending_.front().until;
  if (now < accepts_from_) until = std::min(until, accepts_from_);
  if (until == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

// Anyone may connect: clients that are no ranks block none, and if there are too many the oldest is closed.
void PmiServer::acceptConnection() {
  pop::sys::Fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection.valid()) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
      accepts_from_ = Clock::now() + kPause;
    return;
  }
  if (pending_.size() >= kMaxUnauthenticated + clients_.size()) pending_.pop_front();
  pending_.push_back({std::move(connection), "", Clock::now() + kGreetingTimeout});
}

void PmiServer::readPending() {
  std::deque<PendingConnection> silent;
  for (PendingConnection& pending : pending_) {
    if (isSilent(pending) && Clock::now() < pending.until) silent.push_back(std::move(pending));
  }
  pending_ = std::move(silent);
}

// True: more of its greeting is still to come. Otherwise it has become a client or was rejected.
bool PmiServer::isSilent(PendingConnection& pending) {
  std::array<char, kGreetingBytes> bytes{};
  const ssize_t got =
      ::recv(pending.connection.get(), bytes.data(), kGreetingBytes - pending.greeting.size(), MSG_DONTWAIT);
  if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
  pending.greeting.append(bytes.data(), static_cast<std::size_t>(got));
  if (pending.greeting.size() < kGreetingBytes) return true;
  for (int rank = 0; rank < ranks_; ++rank) {
    Client& client = clients_[static_cast<std::size_t>(rank)];
    if (pending.greeting == greetingOf(secret_, rank) && !client.connection.valid())
      client.connection = std::move(pending.connection);
  }
  return false;
}

// Answers the lines received from `rank`. False: the rank is gone.
bool PmiServer::talk(int rank) {
  Client& client = clients_[static_cast<std::size_t>(rank)];
  std::array<char, kMaxLineBytes> bytes{};
  const ssize_t got = ::recv(client.connection.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
  client.unfinished.append(bytes.data(), static_cast<std::size_t>(got));
  for (std::size_t end = 0; (end = client.unfinished.find('\n')) != std::string::npos;) {
    const std::string line = client.unfinished.substr(0, end);
    client.unfinished.erase(0, end + 1);
    for (const PmiAnswers::Line& answer : answers_.to(rank, line)) {
      const std::string text = answer.text + '\n';
      const pop::sys::Fd& to = clients_[static_cast<std::size_t>(answer.rank)].connection;
      if (to.valid()) static_cast<void>(::send(to.get(), text.data(), text.size(), MSG_NOSIGNAL));
    }
  }
  return client.unfinished.size() < kMaxLineBytes;
}

}  // namespace

pop::Result<std::string> startPmiServer(const std::string& host, int ranks) {
  const auto resolved = resolve(host, "0");
  if (!resolved.ok()) return resolved.status();
  auto listener = socketFor(resolved.value());
  if (!listener.ok()) return listener.status();
  if (::bind(listener->get(), plain(resolved.value()), resolved.value().bytes) != 0 ||
      ::listen(listener->get(), SOMAXCONN) != 0)
    return pop::errnoStatus("listening on " + host, errno);
  if (pop::Status status = pop::sys::setNonBlocking(listener->get()); !status.ok()) return status;
  const std::string secret = newSecret();
  std::string address = secret + ' ' + portOf(listener.value()) + ' ' + host;
  auto server = std::make_unique<PmiServer>(std::move(listener).value(), secret, ranks);
  const pop::sys::BlockedSignals blocked;  // in the thread: signals are the program's business
  std::thread([server = std::move(server)] { server->serve(); }).detach();
  return address;
}

pop::Result<pop::sys::Fd> connectToPmi(const std::string& address, int rank) {
  std::istringstream words(address);
  std::string secret;
  std::string port;
  std::string host;
  words >> secret >> port >> host;
  const auto resolved = resolve(host, port);
  if (!resolved.ok()) return resolved.status();
  auto socket = socketFor(resolved.value());
  if (!socket.ok()) return socket.status();
  if (::connect(socket->get(), plain(resolved.value()), resolved.value().bytes) != 0)
    return pop::errnoStatus("connecting to the PMI server of rank 0 at " + host + ' ' + port, errno);
  if (pop::Status sent = pop::sys::writeAll(socket->get(), greetingOf(secret, rank)); !sent.ok()) return sent;
  return std::move(*socket);
}

}  // namespace popdist::backends
