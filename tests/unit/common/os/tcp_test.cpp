// SPDX-License-Identifier: Apache-2.0
// Dialling and listening on this host, and what is said when it fails.
#include "common/os/tcp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <latch>
#include <memory>
#include <optional>

#include "tests/testing/run_until.h"

namespace pop::os {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::runUntil;

class TcpTest : public ::testing::Test {
 protected:
  Dialled dial(const std::string& host, int port, std::chrono::milliseconds timeout = 10s,
               const Resolver& resolver = ::getaddrinfo) {
    std::optional<Dialled> made;
    const TcpDial dialling(
        loop_, host, port, timeout, [&](Dialled outcome) { made = std::move(outcome); }, resolver);
    EXPECT_FALSE(made.has_value()) << "not from within the constructor";
    runUntil(loop_, [&] { return made.has_value(); });
    return std::move(*made);
  }

  EpollLoop loop_;
};

TEST_F(TcpTest, ReachesAListenerByAddressAndByName) {
  const Listener listener = listenAt("127.0.0.1", 0).value();
  ASSERT_GT(listener.port, 0);
  // A name may have an address of IPv6 as well, without a listener.
  for (const char* host : {"127.0.0.1", "localhost"}) {
    EXPECT_TRUE(dial(host, listener.port).socket.valid()) << host;
    const AcceptedConnection pending = acceptConnection(listener.socket.get());
    EXPECT_TRUE(pending.socket.valid()) << host;
    EXPECT_EQ(pending.address, "127.0.0.1");
  }
  EXPECT_FALSE(acceptConnection(listener.socket.get()).socket.valid());
}

int optionOf(const sys::Fd& socket, int level, int option) {
  int value = -1;
  socklen_t bytes = sizeof(value);
  EXPECT_EQ(::getsockopt(socket.get(), level, option, &value, &bytes), 0);
  return value;
}

TEST_F(TcpTest, FindsWithinTwoMinutesThatAPendingConnectionsMachineIsGone) {
  const Listener listener = listenAt("127.0.0.1", 0).value();
  const Dialled dialled = dial("127.0.0.1", listener.port);
  const AcceptedConnection pending = acceptConnection(listener.socket.get());
  ASSERT_TRUE(pending.socket.valid());
  EXPECT_EQ(optionOf(pending.socket, SOL_SOCKET, SO_KEEPALIVE), 1);
  const int seconds = optionOf(pending.socket, IPPROTO_TCP, TCP_KEEPIDLE) +
                      optionOf(pending.socket, IPPROTO_TCP, TCP_KEEPINTVL) *
                          optionOf(pending.socket, IPPROTO_TCP, TCP_KEEPCNT);
  EXPECT_LE(seconds, 120);
}

TEST_F(TcpTest, TellsAnIpv4AddressAsSuchToAListenerOfBoth) {
  const Result<Listener> listener = listenAt("::", 0);
  if (!listener.ok()) GTEST_SKIP() << "no IPv6 here: " << listener.status().message();
  ASSERT_TRUE(dial("127.0.0.1", listener.value().port).socket.valid());
  EXPECT_EQ(acceptConnection(listener.value().socket.get()).address, "127.0.0.1");
}

TEST_F(TcpTest, SaysWhyNobodyCanBeReached) {
  constexpr int kPortOfNobody = 1;  // below those that the system hands out
  EXPECT_EQ(dial("127.0.0.1", kPortOfNobody).error_number, ECONNREFUSED);
  const Resolver unknown = [](auto...) { return EAI_NONAME; };
  EXPECT_THAT(dial("nosuch.invalid", kPortOfNobody, 20s, unknown).lookup.message(),
              HasSubstr("looking up its name 'nosuch.invalid'"));
}

TEST_F(TcpTest, TellsANameServerThatDoesNotAnswerFromAHostThatDoesNot) {
  // Shared with the thread of the look-up, which is not waited for.
  const auto told = std::make_shared<std::latch>(1);
  const Resolver silent = [told](auto...) {
    told->wait();
    return EAI_AGAIN;
  };
  const Dialled dialled = dial("nosuch.invalid", 1, 0s, silent);
  told->count_down();
  EXPECT_EQ(dialled.lookup.code(), Code::kUnavailable);
  EXPECT_THAT(dialled.lookup.message(), HasSubstr("'nosuch.invalid': the name server does not answer"));
}

TEST_F(TcpTest, SaysSoWhereNoNameCanBeLookedUp) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const NameLookup lookup("nosuch.invalid", 1);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_LT(lookup.event(), 0);
  EXPECT_EQ(lookup.addresses().status().code(), Code::kUnavailable);
  EXPECT_THAT(lookup.addresses().status().message(), HasSubstr("Too many open files"));
}

// Ctrl-Z extends all timers so.
TEST_F(TcpTest, HasMoreTimeWhereAllTimersAreExtended) {
  const Listener listener = listenAt("127.0.0.1", 0).value();
  const auto told = std::make_shared<std::latch>(1);
  const Resolver late = [told](const char*, const char* port, const addrinfo* hints, addrinfo** found) {
    told->wait();
    return ::getaddrinfo("127.0.0.1", port, hints, found);
  };
  std::optional<Dialled> made;
  const TcpDial dialling(
      loop_, "late.invalid", listener.port, 0s, [&](Dialled outcome) { made = std::move(outcome); }, late);
  loop_.extendTimers(20s);
  told->count_down();
  runUntil(loop_, [&] { return made.has_value(); });
  EXPECT_TRUE(made->socket.valid()) << made->error_number;
}

TEST_F(TcpTest, ThatIsGivenUpSaysNothing) {
  const Listener listener = listenAt("127.0.0.1", 0).value();
  for (const char* host : {"127.0.0.1", "localhost", "nosuch.invalid"}) {
    const TcpDial given_up(loop_, host, listener.port, 10s, [](const Dialled&) { ADD_FAILURE(); });
  }
  testing::runIdle(loop_);
}

TEST_F(TcpTest, ListensWhereItMayOnly) {
  const Listener listener = listenAt("127.0.0.1", 0).value();
  EXPECT_THAT(listenAt("127.0.0.1", listener.port).status().message(), HasSubstr("Address already in use"));
  EXPECT_THAT(listenAt("192.0.2.1", 0).status().message(), HasSubstr("192.0.2.1"));
  EXPECT_FALSE(listenAt("nosuch.invalid", 0).ok());
}

}  // namespace
}  // namespace pop::os
