// SPDX-License-Identifier: Apache-2.0
#include "agent/rendezvous/port_reservation.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <sstream>
#include <utility>

#include "common/base/random.h"
#include "common/base/text.h"

namespace pop::agent {
namespace {

struct PortRange {
  int first;
  int last;
};

// The kernel's range of ephemeral ports (32768-60999 unless configured otherwise).
PortRange ephemeralPorts() {
  PortRange range{32768, 60999};
  const Result<std::string> text = sys::readFile("/proc/sys/net/ipv4/ip_local_port_range");
  if (text.ok()) std::istringstream(text.value()) >> range.first >> range.last;
  return range;
}

// The larger of the two sides around the ephemeral range, without the well-known and registered low ports.
PortRange candidatePorts() {
  constexpr int kLowest = 10000;
  constexpr int kHighest = 65535;
  const PortRange ephemeral = ephemeralPorts();
  const PortRange below{kLowest, ephemeral.first - 1};
  const PortRange above{ephemeral.last + 1, kHighest};
  const PortRange larger = below.last - below.first >= above.last - above.first ? below : above;
  return larger.last > larger.first ? larger : PortRange{kLowest, kHighest};
}

template <typename Address>
sys::Fd boundTo(sys::Fd socket, const Address& address) {
  const bool bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  return bound ? std::move(socket) : sys::Fd();
}

// Bound on all addresses, not listening; without SO_REUSEADDR, so that a port in use by any process counts as
// taken. One socket for both families, since an instance may listen in either; IPv4 only where the kernel has
// no IPv6.
sys::Fd bindPort(int port) {
  sockaddr_in6 both{};
  both.sin6_family = AF_INET6;
  both.sin6_port = htons(static_cast<std::uint16_t>(port));
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = both.sin6_port;
  const int off = 0;
  sys::Fd socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.valid()) {
    if (::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) != 0) return {};
    return boundTo(std::move(socket), both);
  }
  if (errno != EAFNOSUPPORT) return {};
  socket = sys::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return socket.valid() ? boundTo(std::move(socket), ipv4) : sys::Fd();
}

}  // namespace

Result<PortReservation> PortReservation::reserve(int count) {
  const PortRange range = candidatePorts();
  const int span = range.last - range.first + 1;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  SplitMix64 random(static_cast<std::uint64_t>(now.tv_nsec) ^ (static_cast<std::uint64_t>(::getpid()) << 32));
  PortReservation result;
  // A random start spreads concurrent jobs; then upwards, each port once.
  const int start = static_cast<int>(random.below(static_cast<std::uint64_t>(span)));
  for (int offset = 0; offset < span && static_cast<int>(result.ports_.size()) < count; ++offset) {
    const int port = range.first + (start + offset) % span;
    sys::Fd socket = bindPort(port);
    if (!socket.valid()) {
      if (errno == EMFILE || errno == ENFILE) {
        return Status(Code::kResourceExhausted, "no descriptors left for " + counted(count, "port") +
                                                    " (raise the limit with `ulimit -n`)");
      }
      continue;
    }
    result.ports_.push_back(port);
    result.sockets_.push_back(std::move(socket));
  }
  if (static_cast<int>(result.ports_.size()) < count) {
    return Status(Code::kResourceExhausted, "only " + std::to_string(result.ports_.size()) + " of " +
                                                counted(count, "port") + " are free between " +
                                                std::to_string(range.first) + " and " +
                                                std::to_string(range.last));
  }
  return result;
}

}  // namespace pop::agent
