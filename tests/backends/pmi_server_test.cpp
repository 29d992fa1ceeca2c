// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/mpi/pmi_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

namespace popdist::backends {
namespace {

// On 127.0.0.1, by the port in the server's address.
sockaddr_in addressOf(const std::string& server) {
  std::istringstream words(server);
  std::string secret;
  std::uint16_t port = 0;
  words >> secret >> port;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

pop::sys::Fd pendingOf(const std::string& server) {
  const sockaddr_in address = addressOf(server);
  pop::sys::Fd pending(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(pending.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return pending;
}

std::string answerTo(const std::string& line, const pop::sys::Fd& connection) {
  EXPECT_TRUE(pop::sys::writeAll(connection.get(), line + '\n').ok());
  std::array<char, 256> bytes{};
  const ssize_t got = ::recv(connection.get(), bytes.data(), bytes.size(), 0);
  return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

bool isOpen(const pop::sys::Fd& pending) {
  char byte = 0;
  return ::recv(pending.get(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

// It would give unauthenticated clients up one after the other if it waited for what they say.
TEST(PmiServer, AnswersARankWhileUnauthenticatedClientsSayNothing) {
  const auto server = startPmiServer("127.0.0.1", 1);
  ASSERT_TRUE(server.ok()) << server.status().message();
  std::vector<pop::sys::Fd> unauthenticated;
  for (int i = 0; i < 20; ++i) unauthenticated.push_back(pendingOf(server.value()));
  const auto rank = connectToPmi(server.value(), 0);
  ASSERT_TRUE(rank.ok()) << rank.status().message();
  EXPECT_EQ(answerTo("cmd=get_appnum", rank.value()), "cmd=appnum appnum=0\n");
  for (const pop::sys::Fd& each : unauthenticated) EXPECT_TRUE(isOpen(each));
}

TEST(PmiServer, TurnsAwayWhoDoesNotShowItsSecret) {
  const auto server = startPmiServer("127.0.0.1", 1);
  ASSERT_TRUE(server.ok()) << server.status().message();
  const std::string greeting = std::string(32, '0') + " 000000";
  EXPECT_EQ(answerTo(greeting + "cmd=get_appnum", pendingOf(server.value())), "");
}

TEST(PmiServer, LetsTheOldestGoWhenUnauthenticatedClientsAreMany) {
  const auto server = startPmiServer("127.0.0.1", 1);
  ASSERT_TRUE(server.ok()) << server.status().message();
  std::vector<pop::sys::Fd> unauthenticated;
  for (int i = 0; i < 100; ++i) unauthenticated.push_back(pendingOf(server.value()));
  char byte = 0;
  EXPECT_EQ(::recv(unauthenticated.front().get(), &byte, 1, 0), 0);
  const auto rank = connectToPmi(server.value(), 0);
  ASSERT_TRUE(rank.ok()) << rank.status().message();
  EXPECT_EQ(answerTo("cmd=get_appnum", rank.value()), "cmd=appnum appnum=0\n");
  EXPECT_TRUE(isOpen(unauthenticated.back()));
}

std::chrono::nanoseconds cpuTime() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST(PmiServer, WaitsForDescriptorsWithoutTakingACpu) {
  const auto server = startPmiServer("127.0.0.1", 1);
  ASSERT_TRUE(server.ok()) << server.status().message();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const pop::sys::Fd last(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(last.get()) + 1;
  sockaddr_in address = addressOf(server.value());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::chrono::nanoseconds begin = cpuTime();
  EXPECT_EQ(::connect(last.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  pollfd nothing{last.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&nothing, 1, 1000), 0);
  EXPECT_LT(cpuTime() - begin, std::chrono::milliseconds(100));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  const auto rank = connectToPmi(server.value(), 0);
  ASSERT_TRUE(rank.ok()) << rank.status().message();
  EXPECT_EQ(answerTo("cmd=get_appnum", rank.value()), "cmd=appnum appnum=0\n");
}

}  // namespace
}  // namespace popdist::backends
