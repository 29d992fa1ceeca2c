// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmix/connection_user.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "common/os/tcp.h"
#include "tests/unit/agent/mpi/pmix_program/loopback.h"
#include "tests/unit/agent/mpi/pmix_program/other_user.h"

namespace pop::pmix {
namespace {

using testing::asNobody;
using testing::connectToLoopback;
using testing::kNobody;
using testing::listenOnLoopback;
using testing::loopbackAddress;
using testing::portOf;

constexpr const char* kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 71 1 0 100 "
    "0\n"
    "   1: 0100007F:A001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 72 1 0 20 4\n"
    "   2: 0100007F:1F90 0100007F:A001 01 00000000:00000000 00:00000000 00000000  1000        0 73 1 0 20 4\n"
    "   3: 0100007F:A002 0100007F:1F90 06 00000000:00000000 03:00000F30 00000000     0        0 0 3 0\n"
    "   4: 0100007F:A003 0100007F:1F90 05 00000000:00000000 02:00000F30 00000000     0        0 0 2 0\n"
    "   5: 0200007F:A004 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1004        0 75 1 0 20 4\n"
    "   6: 0100007F:A005 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4\n";

std::optional<uid_t> userAt(int port) {
  return listedUserOf({loopbackAddress(port), loopbackAddress(8080)}, kTable);
}

TEST(ListedUserOf, IsTheUserOfTheConnectionInThatDirection) {
  EXPECT_EQ(userAt(0xA001), 1001U);
  EXPECT_EQ(listedUserOf({loopbackAddress(8080), loopbackAddress(0xA001)}, kTable), 1000U);
}

// The kernel gives these to user 0.
TEST(ListedUserOf, IsNobodyForSocketsThatTheirProcessHasClosed) {
  EXPECT_EQ(userAt(0xA002), std::nullopt) << "TIME_WAIT";
  EXPECT_EQ(userAt(0xA003), std::nullopt) << "FIN_WAIT2";
  EXPECT_EQ(userAt(0xA005), std::nullopt) << "no inode";
}

TEST(ListedUserOf, IsNobodyForOtherConnections) {
  EXPECT_EQ(userAt(0xA004), std::nullopt) << "another address";
  EXPECT_EQ(userAt(0xA006), std::nullopt);
  EXPECT_EQ(listedUserOf({loopbackAddress(1), loopbackAddress(2)}, ""), std::nullopt);
}

// The two ways agree, where the kernel knows the first.
class EndOfAConnection : public ::testing::Test {
 protected:
  std::optional<uid_t> listed() { return listedUserOf(end, sys::readFile("/proc/net/tcp").value()); }

  sys::Fd listener = listenOnLoopback();
  sys::Fd client = connectToLoopback(portOf(listener));
  sys::Fd accepted = os::acceptConnection(listener.get()).socket;
  TcpEnd end{.local = loopbackAddress(portOf(client)), .remote = loopbackAddress(portOf(listener))};
};

TEST_F(EndOfAConnection, IsHeldByThisUserUntilItIsClosed) {
  EXPECT_EQ(listed(), ::geteuid());
  Result<std::optional<uid_t>> asked = askedUserOf(end);
  if (!asked.ok()) GTEST_SKIP() << asked.status().message();
  EXPECT_EQ(*asked, ::geteuid());

  client.reset();
  EXPECT_EQ(listed(), std::nullopt);
  EXPECT_EQ(askedUserOf(end).value(), std::nullopt);
}

// Else a user could listen where he has connected from.
TEST_F(EndOfAConnection, IsNotAListener) {
  end.local = loopbackAddress(portOf(listener));
  end.remote = loopbackAddress(1);
  EXPECT_EQ(listed(), std::nullopt);
  Result<std::optional<uid_t>> asked = askedUserOf(end);
  if (!asked.ok()) GTEST_SKIP() << asked.status().message();
  EXPECT_EQ(*asked, std::nullopt);
}

class TcpPeerUser : public ::testing::Test {
 protected:
  sys::Fd accepted() { return os::acceptConnection(listener.get()).socket; }

  sys::Fd listener = listenOnLoopback();
};

TEST_F(TcpPeerUser, IsThisUserForAConnectionOfOurs) {
  const sys::Fd client = connectToLoopback(portOf(listener));
  const Result<uid_t> user = tcpPeerUser(accepted().get());
  ASSERT_TRUE(user.ok()) << user.status().message();
  EXPECT_EQ(user.value(), ::geteuid());
}

TEST_F(TcpPeerUser, IsNotFoundOnceTheOtherEndIsClosed) {
  sys::Fd client = connectToLoopback(portOf(listener));
  const sys::Fd socket = accepted();
  client.reset();
  EXPECT_EQ(tcpPeerUser(socket.get()).status().code(), Code::kNotFound);
}

TEST_F(TcpPeerUser, IsAnotherUserForAConnectionOfHis) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  EXPECT_TRUE(asNobody([&] {
    const sys::Fd client = connectToLoopback(portOf(listener));
    const Result<uid_t> user = tcpPeerUser(accepted().get());
    return user.ok() && user.value() == kNobody;
  }));
}

}  // namespace
}  // namespace pop::pmix
