// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmix_program/pmix_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "common/log/log.h"
#include "common/os/tcp.h"
#include "tests/testing/run_until.h"
#include "tests/unit/agent/mpi/pmix_program/loopback.h"
#include "tests/unit/agent/mpi/pmix_program/other_user.h"

namespace pop::pmix {
namespace {

using testing::asNobody;
using testing::connectToLoopback;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::listenOnLoopback;
using testing::offer;
using testing::portOf;
using testing::runIdle;
using testing::runUntil;
using testing::take;

class RelayTest : public ::testing::Test {
 protected:
  RelayTest() {
    sys::Fd front = listenOnLoopback();
    port = portOf(front);
    relay = std::make_unique<Relay>(loop, std::move(front), portOf(back));
    log::setSink([this](std::string_view line) { log.emplace_back(line); });
  }
  ~RelayTest() override { log::setSink(nullptr); }

  /// The connection that the relay makes for a client's.
  sys::Fd nextServer() {
    sys::Fd server;
    runUntil(loop, [&] {
      server = os::acceptConnection(back.get()).socket;
      return server.valid();
    });
    return server;
  }

  void pass(const sys::Fd& from, const sys::Fd& to, const std::string& bytes) {
    ASSERT_EQ(offer(from, bytes), bytes.size());
    std::string arrived;
    runUntil(loop, [&] { return !take(to, arrived) || arrived.size() >= bytes.size(); });
    EXPECT_EQ(arrived, bytes);
  }

  /// Runs the loop until the stream to `socket` ends, and returns what came before.
  std::string untilEnd(const sys::Fd& socket) {
    std::string arrived;
    runUntil(loop, [&] { return !take(socket, arrived); });
    return arrived;
  }

  os::EpollLoop loop;
  sys::Fd back = listenOnLoopback();
  int port = 0;
  std::vector<std::string> log;
  std::unique_ptr<Relay> relay;
};

TEST_F(RelayTest, PassesBytesBothWaysForEachClient) {
  const sys::Fd first = connectToLoopback(port);
  const sys::Fd first_server = nextServer();
  const sys::Fd second = connectToLoopback(port);
  const sys::Fd second_server = nextServer();
  pass(first, first_server, "from the first");
  pass(second, second_server, "from the second");
  pass(second_server, second, "to the second");
  pass(first_server, first, std::string("to\0the first", 12));
}

TEST_F(RelayTest, PassesOnTheEndOfOneDirectionAndKeepsTheOther) {
  const sys::Fd client = connectToLoopback(port);
  const sys::Fd server = nextServer();
  ASSERT_EQ(offer(client, "last words"), 10U);
  ::shutdown(client.get(), SHUT_WR);
  EXPECT_EQ(untilEnd(server), "last words");
  pass(server, client, "answer");
  ::shutdown(server.get(), SHUT_WR);
  EXPECT_EQ(untilEnd(client), "");
}

TEST_F(RelayTest, EndsTheOtherSideWhenOneIsGone) {
  sys::Fd client = connectToLoopback(port);
  const sys::Fd server = nextServer();
  client.reset();
  EXPECT_EQ(untilEnd(server), "");

  const sys::Fd other = connectToLoopback(port);
  sys::Fd other_server = nextServer();
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ASSERT_EQ(::setsockopt(other_server.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
  other_server.reset();
  EXPECT_EQ(untilEnd(other), "");
}

TEST_F(RelayTest, HoldsLittleOfWhatTheServerDoesNotRead) {
  const sys::Fd client = connectToLoopback(port);
  const sys::Fd server = nextServer();
  const std::string bytes(96 << 20, 'x');
  std::size_t sent = 0;
  int fruitless = 0;
  runUntil(loop, [&] {
    const std::size_t more = offer(client, std::string_view(bytes).substr(sent, 1 << 20));
    sent += more;
    fruitless = more == 0 ? fruitless + 1 : 0;
    return fruitless > 1000;
  });
  EXPECT_LT(sent, bytes.size() / 2) << "the sockets' buffers and a piece";
  ::shutdown(client.get(), SHUT_WR);
  EXPECT_EQ(untilEnd(server).size(), sent);
}

// libpmix would take the end of a program's connection for a loss in the fence of the next program.
TEST_F(RelayTest, KeepsTheEndOfAClientThatHasFinalizedToItselfWhileAnotherIsThere) {
  sys::Fd first = connectToLoopback(port);
  const sys::Fd first_server = nextServer();
  sys::Fd second = connectToLoopback(port);
  sys::Fd second_server = nextServer();
  relay->onFinalized();
  first.reset();
  pass(second, second_server, "in the next program's fence");
  runIdle(loop);
  std::string arrived;
  EXPECT_TRUE(take(first_server, arrived)) << "it sees the end";
  second.reset();
  EXPECT_EQ(untilEnd(second_server), "");
  second_server.reset();
  EXPECT_EQ(untilEnd(first_server), "");
}

TEST_F(RelayTest, PassesOnTheEndOfAClientThatHasNotFinalized) {
  sys::Fd first = connectToLoopback(port);
  const sys::Fd first_server = nextServer();
  sys::Fd second = connectToLoopback(port);
  const sys::Fd second_server = nextServer();
  const sys::Fd third = connectToLoopback(port);
  const sys::Fd third_server = nextServer();
  relay->onFinalized();
  first.reset();
  runIdle(loop);
  second.reset();
  EXPECT_EQ(untilEnd(second_server), "");
}

TEST_F(RelayTest, ClosesTheClientWhenNobodyServes) {
  back.reset();
  const sys::Fd client = connectToLoopback(port);
  EXPECT_EQ(untilEnd(client), "");
}

// ---- other users

TEST_F(RelayTest, RefusesAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const pid_t nobody = ::fork();
  if (nobody == 0) {
    ::_exit(::setuid(testing::kNobody) == 0 &&
                    [&] {
                      const sys::Fd client = connectToLoopback(port);
                      offer(client, "I am root");
                      char byte = 0;
                      return ::recv(client.get(), &byte, 1, 0) <= 0;
                    }()
                ? 0
                : 1);
  }
  runUntil(loop, [&] { return !log.empty(); });
  int status = -1;
  EXPECT_EQ(::waitpid(nobody, &status, 0), nobody);
  EXPECT_EQ(status, 0) << "the connection was not closed";
  EXPECT_FALSE(os::acceptConnection(back.get()).socket.valid());
  EXPECT_THAT(log, ElementsAre(HasSubstr("refused a connection to the job's PMIx server from user 65534")));
}

// Its socket has no owner then, and the kernel says user 0.
TEST_F(RelayTest, RefusesAnotherUserWhoHasHungUp) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  ASSERT_TRUE(asNobody([&] {
    const sys::Fd client = connectToLoopback(port);
    return offer(client, "I am root") == 9;
  }));
  const sys::Fd ours = connectToLoopback(port);
  const sys::Fd server = nextServer();
  pass(ours, server, "the only one");
  EXPECT_FALSE(os::acceptConnection(back.get()).socket.valid());
}

}  // namespace
}  // namespace pop::pmix
