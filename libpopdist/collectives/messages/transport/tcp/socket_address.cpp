// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/tcp/socket_address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/base/text.h"

namespace popdist::transport {
namespace {

sockaddr_in& v4(sockaddr_storage& storage) {
  return reinterpret_cast<sockaddr_in&>(storage);
}
const sockaddr_in& v4(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in&>(storage);
}
sockaddr_in6& v6(sockaddr_storage& storage) {
  return reinterpret_cast<sockaddr_in6&>(storage);
}
const sockaddr_in6& v6(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in6&>(storage);
}

bool setCongestionControl(int socket, const std::string& name) {
  return ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(),
                      static_cast<socklen_t>(name.size())) == 0;
}

std::string congestionControlOf(int socket) {
  std::array<char, 16> name{};  // TCP_CA_NAME_MAX
  socklen_t length = name.size();
  const bool known = ::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) == 0;
  return known ? std::string(name.data(), ::strnlen(name.data(), length)) : "";
}

// BBR paces packets by timers, to find out what a long way carries. Any program may take reno.
pop::Status chooseCongestionControl(int socket, const std::string& wanted) {
  if (wanted.empty()) {
    if (congestionControlOf(socket).starts_with("bbr") && !setCongestionControl(socket, "cubic"))
      setCongestionControl(socket, "reno");
    return {};
  }
  if (setCongestionControl(socket, wanted)) return {};
  return pop::failedPrecondition("this host does not offer POPDIST_TCP_CONGESTION=" + pop::inQuotes(wanted) +
                                 ": it is not in /proc/sys/net/ipv4/tcp_allowed_congestion_control");
}

}  // namespace

// Messages are sent whole and awaited at once: nothing is gained by holding bytes back.
pop::Status tune(int socket, const std::string& congestion_control) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kSendBufferBytes, sizeof(kSendBufferBytes));
  return chooseCongestionControl(socket, congestion_control);
}

pop::Result<SocketAddress> SocketAddress::parse(const std::string& address, int port) {
  SocketAddress result;
  const std::string number = address.substr(0, address.find('%'));
  const std::string scope = number.size() < address.size() ? address.substr(number.size() + 1) : "";
  const auto network_port = htons(static_cast<in_port_t>(port));
  if (::inet_pton(AF_INET, address.c_str(), &v4(result.storage_).sin_addr) == 1) {
    v4(result.storage_).sin_family = AF_INET;
    v4(result.storage_).sin_port = network_port;
    result.length_ = sizeof(sockaddr_in);
  } else if (::inet_pton(AF_INET6, number.c_str(), &v6(result.storage_).sin6_addr) == 1) {
    v6(result.storage_).sin6_family = AF_INET6;
    v6(result.storage_).sin6_port = network_port;
    v6(result.storage_).sin6_scope_id = scope.empty() ? 0 : ::if_nametoindex(scope.c_str());
    result.length_ = sizeof(sockaddr_in6);
  }
  if (result.length_ == 0 || port < 0 || port > 0xffff)
    return pop::invalidArgument(pop::inQuotes(address) + " and port " + std::to_string(port) +
                                " are not a numeric address");
  return result;
}

std::string SocketAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> number{};
  if (get()->sa_family == AF_INET) {
    ::inet_ntop(AF_INET, &v4(storage_).sin_addr, number.data(), number.size());
    return number.data();
  }
  ::inet_ntop(AF_INET6, &v6(storage_).sin6_addr, number.data(), number.size());
  std::array<char, IF_NAMESIZE> scope{};
  const bool scoped = v6(storage_).sin6_scope_id != 0 &&
                      ::if_indextoname(v6(storage_).sin6_scope_id, scope.data()) != nullptr;
  return scoped ? std::string(number.data()) + '%' + scope.data() : number.data();
}

int SocketAddress::port() const {
  return ntohs(get()->sa_family == AF_INET ? v4(storage_).sin_port : v6(storage_).sin6_port);
}

SocketAddress SocketAddress::seenFrom(const SocketAddress& own) const {
  SocketAddress seen = *this;
  const bool link_local = get()->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6(storage_).sin6_addr);
  if (link_local && own.get()->sa_family == AF_INET6)
    v6(seen.storage_).sin6_scope_id = v6(own.storage_).sin6_scope_id;
  return seen;
}

pop::Result<pop::sys::Fd> listenOn(SocketAddress& address, const std::string& congestion_control) {
  pop::sys::Fd socket(::socket(address.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.valid()) POP_RETURN_IF_ERROR(tune(socket.get(), congestion_control));
  address.length_ = sizeof(address.storage_);
  const bool listens =
      socket.valid() &&
      ::bind(socket.get(), address.get(),
             address.get()->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6)) == 0 &&
      ::listen(socket.get(), SOMAXCONN) == 0 &&
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address.storage_), &address.length_) == 0;
  if (!listens) return pop::errnoStatus("listening on " + address.text(), errno);
  return socket;
}

pop::Result<pop::sys::Fd> beginConnecting(const SocketAddress& own, const SocketAddress& peer,
                                          const std::string& congestion_control) {
  pop::sys::Fd socket(::socket(peer.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return pop::errnoStatus("creating a socket", errno);
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
  POP_RETURN_IF_ERROR(tune(socket.get(), congestion_control));
  const SocketAddress to = peer.seenFrom(own);
  if (own.get()->sa_family == to.get()->sa_family && ::bind(socket.get(), own.get(), own.length()) != 0)
    return pop::errnoStatus("using " + own.text(), errno);
  if (::connect(socket.get(), to.get(), to.length()) != 0 && errno != EINPROGRESS)
    return pop::errnoStatus("connecting", errno);
  return socket;
}

pop::Result<pop::sys::Fd> acceptNext(int listener) {
  pop::sys::Fd socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const bool short_of_it = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
  if (!socket.valid() && short_of_it) return pop::errnoStatus("accepting a connection (ulimit -n)", errno);
  return socket;
}

}  // namespace popdist::transport
