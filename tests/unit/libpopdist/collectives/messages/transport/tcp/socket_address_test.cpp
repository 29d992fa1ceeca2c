// SPDX-License-Identifier: Apache-2.0
// What the sockets of both ends of a connection are told.
#include "libpopdist/collectives/messages/transport/tcp/socket_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace popdist::transport {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Ends {
  pop::sys::Fd dialled;
  pop::sys::Fd accepted;
};

Ends connectedEnds(const std::string& congestion_control) {
  SocketAddress address = SocketAddress::parse("127.0.0.1", 0).value();
  const pop::sys::Fd listener = listenOn(address, congestion_control).value();
  Ends ends{
      .dialled =
          beginConnecting(SocketAddress::parse("127.0.0.1", 0).value(), address, congestion_control).value(),
      .accepted = {}};
  pollfd pending{listener.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&pending, 1, 20'000), 1);
  ends.accepted = acceptNext(listener.get()).value();
  return ends;
}

std::string congestionControlOf(const pop::sys::Fd& socket) {
  std::array<char, 64> name{};
  socklen_t length = name.size();
  EXPECT_EQ(::getsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &length), 0);
  return name.data();
}

int optionOf(const pop::sys::Fd& socket, int level, int option) {
  int value = 0;
  socklen_t length = sizeof(value);
  EXPECT_EQ(::getsockopt(socket.get(), level, option, &value, &length), 0);
  return value;
}

int mostSendBufferBytes() {
  int most = 0;
  std::ifstream("/proc/sys/net/core/wmem_max") >> most;
  return most;
}

TEST(ConnectedEnds, AreToldTheSame) {
  const Ends ends = connectedEnds("");
  for (const pop::sys::Fd* const end : {&ends.dialled, &ends.accepted}) {
    EXPECT_NE(optionOf(*end, IPPROTO_TCP, TCP_NODELAY), 0);
    EXPECT_EQ(optionOf(*end, SOL_SOCKET, SO_SNDBUF), 2 * std::min(kSendBufferBytes, mostSendBufferBytes()))
        << "the kernel's own share included";
  }
}

TEST(ConnectedEnds, DoNotPaceUnasked) {
  const Ends ends = connectedEnds("");
  EXPECT_THAT(congestionControlOf(ends.dialled), Not(StartsWith("bbr")));
  EXPECT_THAT(congestionControlOf(ends.accepted), Not(StartsWith("bbr")));
}

TEST(ConnectedEnds, TakeTheCongestionControlThatIsAskedFor) {
  const Ends ends = connectedEnds("reno");
  EXPECT_EQ(congestionControlOf(ends.dialled), "reno");
  EXPECT_EQ(congestionControlOf(ends.accepted), "reno");
}

TEST(ConnectedEnds, AreNotMadeWithOneThatTheKernelDoesNotOffer) {
  SocketAddress address = SocketAddress::parse("127.0.0.1", 0).value();
  const pop::Status refused = listenOn(address, "pigeons").status();
  EXPECT_EQ(refused.code(), pop::Code::kFailedPrecondition);
  EXPECT_THAT(refused.message(), HasSubstr("POPDIST_TCP_CONGESTION='pigeons'"));
}

}  // namespace
}  // namespace popdist::transport
