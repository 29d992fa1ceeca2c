// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "bench/collectives_speed/limits/limits.h"
#include "common/sys/fd.h"
#include "libpopdist/collectives/messages/transport/tcp/socket_address.h"

namespace pop::bench::collectives {
namespace {

constexpr std::size_t kSendSizes[] = {64 << 10, 256 << 10, 1 << 20};
constexpr std::size_t kBytesOfBatch = 32 << 20;

void require(bool succeeded, const char* what) {
  if (succeeded) return;
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

// A socket stays in the network namespace in which it was made. So does the thread, which ends with this
// function.
sys::Fd socketIn(const std::string& network) {
  sys::Fd made;
  std::thread([&] {
    if (!network.empty()) {
      const sys::Fd space(::open(network.c_str(), O_RDONLY | O_CLOEXEC));
      require(space.valid() && ::setns(space.get(), CLONE_NEWNET) == 0, "entering another network");
    }
    made = sys::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    require(made.valid(), "making a socket");
  }).join();
  return made;
}

// With libpopdist's socket options, or the system's defaults.
sys::Fd socketOf(const std::string& network, bool like_ours) {
  sys::Fd made = socketIn(network);
  const int on = 1;
  ::setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (like_ours) require(popdist::transport::tune(made.get()).ok(), "setting options");
  return made;
}

// Accepted sockets inherit the listening socket's options.
std::array<sys::Fd, 2> connectionOver(const TcpPath& path, bool like_ours) {
  const sys::Fd listener = socketOf(path.to_network, like_ours);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  require(::inet_pton(AF_INET, path.to_address.c_str(), &address.sin_addr) == 1, "reading the address");
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  require(::bind(listener.get(), any, size) == 0 && ::listen(listener.get(), 1) == 0 &&
              ::getsockname(listener.get(), any, &size) == 0,
          "listening");
  std::array<sys::Fd, 2> ends{socketOf(path.from_network, like_ours), sys::Fd()};
  require(::connect(ends[0].get(), any, size) == 0, "connecting");
  ends[1] = sys::Fd(::accept(listener.get(), nullptr, nullptr));
  require(ends[1].valid(), "accepting a connection");
  return ends;
}

std::size_t moved(ssize_t result) {
  require(result >= 0 || errno == EAGAIN || errno == EINTR, "moving data");
  return result > 0 ? static_cast<std::size_t>(result) : 0;
}

// Sends and receives this many bytes, in whichever order is possible, and waits by the given method when
// neither is. Polling at once notices data fastest, but disturbs the peer's work on the same connection.
void exchange(int socket, std::vector<char>& buffer, std::size_t send_size, std::size_t to_send,
              std::size_t to_receive, bool polls) {
  while (to_send + to_receive > 0) {
    std::size_t now = 0;
    if (to_send > 0) {
      const std::size_t sent =
          moved(::send(socket, buffer.data(), std::min(to_send, send_size), MSG_DONTWAIT | MSG_NOSIGNAL));
      to_send -= sent;
      now += sent;
    }
    if (to_receive > 0) {
      const std::size_t received =
          moved(::recv(socket, buffer.data() + send_size, std::min(to_receive, send_size), MSG_DONTWAIT));
      to_receive -= received;
      now += received;
    }
    if (now > 0 || !polls) continue;
    pollfd ready{socket, static_cast<short>((to_send > 0 ? POLLOUT : 0) | (to_receive > 0 ? POLLIN : 0)), 0};
    ::poll(&ready, 1, -1);
  }
}

// The longer time of both ends in `work(end, buffer)`; threads and buffers are created before.
template <typename Work>
double secondsOfBoth(std::size_t buffer_bytes, const Work& work) {
  using Clock = std::chrono::steady_clock;
  std::barrier<> together(2);
  std::array<double, 2> seconds{};
  onCores(2, false, [&](std::size_t end) {
    std::vector<char> buffer(buffer_bytes, 1);
    together.arrive_and_wait();
    const auto begin = Clock::now();
    work(end, buffer);
    seconds[end] = std::chrono::duration<double>(Clock::now() - begin).count();
  });
  return std::max(seconds[0], seconds[1]);
}

// GB/s of one direction.
double rate(const std::array<sys::Fd, 2>& ends, std::size_t send_size, bool duplex, bool polls) {
  const double seconds = secondsOfBoth(2 * send_size, [&](std::size_t end, std::vector<char>& buffer) {
    exchange(ends[end].get(), buffer, send_size, end == 0 || duplex ? kBytesOfBatch : 0,
             end == 1 || duplex ? kBytesOfBatch : 0, polls);
  });
  return kBytesOfBatch / seconds / 1e9;
}

// Microseconds until both ends have sent `bytes` and received as many, repeated.
double swapUs(const std::array<sys::Fd, 2>& ends, std::size_t bytes, std::size_t send_size, bool polls) {
  const std::size_t swaps = std::max<std::size_t>(kBytesOfBatch / bytes, 2);
  const double seconds = secondsOfBoth(2 * send_size, [&](std::size_t end, std::vector<char>& buffer) {
    for (std::size_t swap = 0; swap < swaps; ++swap)
      exchange(ends[end].get(), buffer, send_size, bytes, bytes, polls);
  });
  return seconds * 1e6 / static_cast<double>(swaps);
}

struct Way {
  std::size_t send_size;
  bool polls;
  bool with_our_buffer;

  std::string name() const {
    return " of " + std::to_string(send_size) + " bytes" + (polls ? ", polling" : "") +
           (with_our_buffer ? ", our send buffer" : "");
  }
};

std::vector<Way> allWays() {
  std::vector<Way> ways;
  for (const std::size_t send_size : kSendSizes) {
    for (const bool polls : {false, true}) {
      for (const bool with_our_buffer : {false, true}) ways.push_back({send_size, polls, with_our_buffer});
    }
  }
  return ways;
}

}  // namespace

std::vector<Series> tcpFigures(std::size_t bytes, int batches, const TcpPath& path) {
  std::vector<Series> figures;
  for (const Way& way : allWays()) {
    const std::array<sys::Fd, 2> ends = connectionOver(path, way.with_our_buffer);
    Series stream{"stream" + way.name(), {}}, duplex{"duplex" + way.name(), {}},
        swap{"swap" + way.name(), {}};
    for (int batch = -1; batch < batches; ++batch) {  // the first one warms up
      const double one_way = rate(ends, way.send_size, false, way.polls);
      const double both_ways = rate(ends, way.send_size, true, way.polls);
      const double swap_us = swapUs(ends, bytes, way.send_size, way.polls);
      if (batch < 0) continue;
      swap.values.push_back(swap_us);
      stream.values.push_back(one_way);
      duplex.values.push_back(both_ways);
    }
    for (Series* const each : {&stream, &duplex, &swap}) figures.push_back(std::move(*each));
  }
  return figures;
}

}  // namespace pop::bench::collectives
