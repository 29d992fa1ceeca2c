// SPDX-License-Identifier: Apache-2.0
// The floor under a launcher with running daemons: an unprotected daemon starts processes whose output is the
// connection, and a client merges the output of all hosts. No authentication, no exit codes, no whole lines.
// usage: bench_launch_tcp_floor serve PORT
//        bench_launch_tcp_floor run PORT PER_HOST PROGRAM ADDRESS…; PROGRAM finds its number in RANK.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "bench_launch_tcp_floor: %s: %s\n", what, std::strerror(errno));
  std::_Exit(1);
}

/// The client's only message.
struct Order {
  int first_rank = 0;
  int count = 0;
  std::array<char, 1024> program{};
};

sockaddr_in addressOf(const char* ip, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, ip, &address.sin_addr) != 1) fail(ip);
  return address;
}

void spawn(const Order& order, int rank, int connection) {
  const std::string variable = "RANK=" + std::to_string(rank);
  std::array<char*, 2> environment{const_cast<char*>(variable.c_str()), nullptr};
  std::array<char*, 2> words{const_cast<char*>(order.program.data()), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, connection, 1);
  posix_spawn_file_actions_adddup2(&files, connection, 2);
  pid_t pid = 0;
  errno = ::posix_spawn(&pid, words[0], &files, nullptr, words.data(), environment.data());
  if (errno != 0) fail(words[0]);
  posix_spawn_file_actions_destroy(&files);
}

// Serves one job after the other.
int serve(int port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = addressOf("0.0.0.0", port);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("bind");
  if (::listen(listener, 16) != 0) fail("listen");
  std::puts("listening");
  std::fflush(stdout);
  while (true) {
    const int connection = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) fail("accept");
    Order order;
    if (::recv(connection, &order, sizeof order, MSG_WAITALL) == sizeof order) {
      for (int i = 0; i < order.count; ++i) spawn(order, order.first_rank + i, connection);
      for (int i = 0; i < order.count; ++i) ::wait(nullptr);
    }
    ::close(connection);
  }
}

int dial(const char* ip, int port, const Order& order) {
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = addressOf(ip, port);
  if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail(ip);
  const int on = 1;
  ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::send(connection, &order, sizeof order, 0) != sizeof order) fail("send");
  return connection;
}

void forwardOutput(std::vector<pollfd> connections) {
  std::array<char, 1 << 16> buffer;
  while (!connections.empty()) {
    if (::poll(connections.data(), connections.size(), -1) < 0) fail("poll");
    for (std::size_t i = connections.size(); i-- > 0;) {
      if (connections[i].revents == 0) continue;
      const ssize_t size = ::read(connections[i].fd, buffer.data(), buffer.size());
      if (size > 0 && ::write(1, buffer.data(), static_cast<std::size_t>(size)) < 0) fail("stdout");
      if (size <= 0) connections.erase(connections.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

int run(int port, int per_host, const char* program, char** addresses) {
  Order order;
  order.count = per_host;
  std::snprintf(order.program.data(), order.program.size(), "%s", program);
  std::vector<pollfd> connections;
  for (; *addresses != nullptr; ++addresses, order.first_rank += per_host)
    connections.push_back({dial(*addresses, port, order), POLLIN, 0});
  forwardOutput(std::move(connections));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "serve") return serve(std::atoi(argv[2]));
  if (argc > 5 && std::string(argv[1]) == "run")
    return run(std::atoi(argv[2]), std::atoi(argv[3]), argv[4], argv + 5);
  errno = EINVAL;
  fail("serve PORT, or run PORT PER_HOST PROGRAM ADDRESS…");
}
