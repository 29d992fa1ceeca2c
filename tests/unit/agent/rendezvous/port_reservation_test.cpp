// SPDX-License-Identifier: Apache-2.0
#include "agent/rendezvous/port_reservation.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "tests/testing/forbidden_call.h"

namespace pop::agent {
namespace {

using testing::forbidIpv6;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The result of another process's bind: 0 or the error.
int bindError(in_addr_t address, int port) {
  const sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(address);
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  return ::bind(socket.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)) == 0 ? 0 : errno;
}

// The same on all addresses of IPv6 only, as servers of an instance may listen there.
int bindErrorOfIpv6(const sys::Fd& socket, int port) {
  const int on = 1;
  sockaddr_in6 name{};
  name.sin6_family = AF_INET6;
  name.sin6_addr = in6addr_any;
  name.sin6_port = htons(static_cast<std::uint16_t>(port));
  if (::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) != 0) return errno;
  return ::bind(socket.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)) == 0 ? 0 : errno;
}

sys::Fd ipv6Socket() {
  return sys::Fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

TEST(PortReservation, GivesAsManyDistinctPortsAsAsked) {
  const Result<PortReservation> reservation = PortReservation::reserve(100);
  ASSERT_TRUE(reservation.ok()) << reservation.status().message();
  const std::vector<int>& ports = reservation.value().ports();
  EXPECT_EQ(ports.size(), 100U);
  EXPECT_EQ(std::set<int>(ports.begin(), ports.end()).size(), 100U);
}

TEST(PortReservation, OfNoneIsNothing) {
  const Result<PortReservation> reservation = PortReservation::reserve(0);
  ASSERT_TRUE(reservation.ok());
  EXPECT_THAT(reservation.value().ports(), IsEmpty());
}

TEST(PortReservation, StaysOutOfTheKernelsOwnRange) {
  int first = 0;
  int last = 0;
  std::istringstream(sys::readFile("/proc/sys/net/ipv4/ip_local_port_range").value()) >> first >> last;
  ASSERT_GT(last, first);
  if (first <= 10001 && last >= 65534) GTEST_SKIP() << "the kernel's range leaves no other ports";
  for (int round = 0; round < 20; ++round) {
    const Result<PortReservation> reservation = PortReservation::reserve(5);
    ASSERT_TRUE(reservation.ok());
    for (const int port : reservation.value().ports()) {
      EXPECT_TRUE(port < first || port > last) << port;
      EXPECT_GE(port, 10000);
      EXPECT_LE(port, 65535);
    }
  }
}

TEST(PortReservation, KeepsOthersOutUntilItIsReleased) {
  Result<PortReservation> reservation = PortReservation::reserve(3);
  ASSERT_TRUE(reservation.ok());
  const std::vector<int> ports = reservation.value().ports();
  for (const int port : ports) {
    EXPECT_EQ(bindError(INADDR_LOOPBACK, port), EADDRINUSE);
    EXPECT_EQ(bindError(INADDR_ANY, port), EADDRINUSE);
  }
  reservation.value().release();
  for (const int port : ports) {
    EXPECT_EQ(bindError(INADDR_LOOPBACK, port), 0);
    EXPECT_EQ(bindError(INADDR_ANY, port), 0);
  }
  EXPECT_EQ(reservation.value().ports(), ports) << "their numbers stay known";
}

TEST(PortReservation, KeepsOthersOutOfIpv6AsWell) {
  if (!ipv6Socket().valid()) GTEST_SKIP() << "the kernel has no IPv6";
  Result<PortReservation> reservation = PortReservation::reserve(3);
  ASSERT_TRUE(reservation.ok());
  for (const int port : reservation.value().ports())
    EXPECT_EQ(bindErrorOfIpv6(ipv6Socket(), port), EADDRINUSE);
  reservation.value().release();
  for (const int port : reservation.value().ports()) EXPECT_EQ(bindErrorOfIpv6(ipv6Socket(), port), 0);
}

// A reservation takes ports that follow each other: 150 of them pass at least one of every hundred.
TEST(PortReservation, LeavesOutWhatIsHeldInIpv6Only) {
  if (!ipv6Socket().valid()) GTEST_SKIP() << "the kernel has no IPv6";
  std::vector<sys::Fd> holders;
  std::set<int> held;
  for (int port = 10000; port <= 65535; port += 100) {
    sys::Fd holder = ipv6Socket();
    if (bindErrorOfIpv6(holder, port) != 0) continue;
    held.insert(port);
    holders.push_back(std::move(holder));
  }
  const Result<PortReservation> reservation = PortReservation::reserve(150);
  ASSERT_TRUE(reservation.ok()) << reservation.status().message();
  for (const int port : reservation.value().ports()) EXPECT_FALSE(held.contains(port)) << port;
}

TEST(PortReservation, NeedsNoIpv6) {
  std::thread([] {
    ASSERT_TRUE(forbidIpv6());
    ASSERT_FALSE(ipv6Socket().valid());
    const Result<PortReservation> reservation = PortReservation::reserve(3);
    ASSERT_TRUE(reservation.ok()) << reservation.status().message();
    for (const int port : reservation.value().ports()) EXPECT_EQ(bindError(INADDR_ANY, port), EADDRINUSE);
  }).join();
}

TEST(PortReservation, MovesWithItsPorts) {
  PortReservation kept;
  kept = std::move(PortReservation::reserve(1)).value();
  EXPECT_EQ(bindError(INADDR_ANY, kept.ports().at(0)), EADDRINUSE);
  const int port = kept.ports().at(0);
  kept = PortReservation();
  EXPECT_EQ(bindError(INADDR_ANY, port), 0);
}

TEST(PortReservation, TwoAtATimeShareNothing) {
  const PortReservation first = std::move(PortReservation::reserve(50)).value();
  const PortReservation second = std::move(PortReservation::reserve(50)).value();
  std::set<int> all(first.ports().begin(), first.ports().end());
  all.insert(second.ports().begin(), second.ports().end());
  EXPECT_EQ(all.size(), 100U);
}

TEST(PortReservation, WithoutDescriptorsNamesTheLimit) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const sys::Fd next(::dup(STDERR_FILENO));
  const rlimit few{static_cast<rlim_t>(next.get() + 4), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Result<PortReservation> reservation = PortReservation::reserve(10);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(reservation.ok());
  EXPECT_EQ(reservation.code(), Code::kResourceExhausted);
  EXPECT_THAT(reservation.status().message(), HasSubstr("no descriptors left for 10 ports"));
  EXPECT_THAT(reservation.status().message(), HasSubstr("ulimit -n"));
}

}  // namespace
}  // namespace pop::agent
