// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/cluster/link/own_place.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "common/base/text.h"

namespace popdist::cluster {
namespace {

using pop::Status;
using transport::SocketAddress;

bool isLoopback(const SocketAddress& address) {
  const std::string text = address.text();
  return text.starts_with("127.") || text == "::1";
}

// An invalid Fd: `error_number` says why.
pop::sys::Fd take(const SocketAddress& address, bool listens, int& error_number) {
  pop::sys::Fd socket(::socket(address.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  // An earlier instance 0 may have left connections in TIME_WAIT. Without a listener the option would let
  // two processes have the same port.
  if (listens) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool taken = socket.valid() && ::bind(socket.get(), address.get(), address.length()) == 0 &&
                     (!listens || ::listen(socket.get(), SOMAXCONN) == 0);
  error_number = errno;
  return taken ? std::move(socket) : pop::sys::Fd();
}

Status notTaken(const Roster& roster, int instance, int error_number) {
  const std::string name = roster.nameOf(instance);
  switch (error_number) {
    case EADDRINUSE:
      return {
          pop::Code::kAlreadyExists,
          "the address of " + name +
              " is in use on this host: another process has the same index, an earlier one still runs, or "
              "another program has the port"};
    case EADDRNOTAVAIL:
      return pop::failedPrecondition("the address of " + name +
                                     " is not of this host: is the index that of another process?");
    default:
      return pop::errnoStatus("taking the address of " + name, error_number);
  }
}

// Many systems have their own name as a loopback address (/etc/hosts), which others take for themselves. One
// other host is enough to notice it.
Status reachableByOthers(const Roster& roster, int instance, const SocketAddress& own) {
  if (!isLoopback(own)) return {};
  POP_ASSIGN_OR_RETURN(const Endpoint mine,
                       parseEndpoint(roster.workers[static_cast<std::size_t>(instance)]));
  for (const std::string& worker : roster.workers) {
    POP_ASSIGN_OR_RETURN(const Endpoint other, parseEndpoint(worker));
    if (other.host == mine.host) continue;
    pop::Result<std::vector<SocketAddress>> found = addressesOf(other);
    if (!found.ok() || std::any_of(found->begin(), found->end(), isLoopback)) return {};
    return pop::failedPrecondition("on this host " + pop::inQuotes(mine.host) + " is " + own.text() +
                                   ", where instances on other hosts, as " + pop::inQuotes(worker) +
                                   ", cannot reach it: use a numeric address, or change /etc/hosts");
  }
  return {};
}

}  // namespace

pop::Result<std::vector<SocketAddress>> addressesOf(const Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(endpoint.host.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, [](addrinfo* list) {
    if (list != nullptr) ::freeaddrinfo(list);
  });
  if (failure != 0) {
    return pop::Status(pop::Code::kNotFound, "no address is known for " + pop::inQuotes(endpoint.host) +
                                                 ": " + ::gai_strerror(failure));
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::array<char, NI_MAXHOST> number{};
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, number.data(), number.size(), nullptr, 0,
                      NI_NUMERICHOST) != 0)
      continue;
    pop::Result<SocketAddress> address = SocketAddress::parse(number.data(), endpoint.port);
    if (address.ok()) addresses.push_back(*address);
  }
  if (addresses.empty())
    return pop::Status(pop::Code::kNotFound, "no address is known for " + pop::inQuotes(endpoint.host));
  return addresses;
}

// A name may have several addresses, of which only some are of this host or of a protocol that it has.
pop::Result<OwnPlace> takeOwnPlace(const Roster& roster, int instance) {
  POP_ASSIGN_OR_RETURN(const Endpoint endpoint,
                       parseEndpoint(roster.workers[static_cast<std::size_t>(instance)]));
  POP_ASSIGN_OR_RETURN(const std::vector<SocketAddress> addresses, addressesOf(endpoint));
  int error_number = EADDRNOTAVAIL;
  for (const SocketAddress& address : addresses) {
    int why = 0;
    pop::sys::Fd socket = take(address, instance == 0, why);
    if (socket.valid()) {
      POP_RETURN_IF_ERROR(reachableByOthers(roster, instance, address));
      return OwnPlace{std::move(socket), address.text()};
    }
    if (why != EADDRNOTAVAIL && why != EAFNOSUPPORT) error_number = why;
  }
  return notTaken(roster, instance, error_number);
}

}  // namespace popdist::cluster
