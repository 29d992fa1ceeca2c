// SPDX-License-Identifier: Apache-2.0
// Connections over TCP, driven from one thread: messages of all sizes, over several streams, and
// unauthenticated clients.
#include "libpopdist/collectives/messages/transport/tcp/tcp_group.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include "tests/unit/libpopdist/collectives/messages/transport/tcp/tcp_world.h"

namespace popdist::transport {
namespace {

constexpr std::chrono::seconds kTimeout{20};
using Bytes = std::vector<std::byte>;

Bytes sampleBytes(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

bool runUntil(const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
  }
  return true;
}

// One message, a turn at a time.
class Sending {
 public:
  Sending(Connection& connection, const Bytes& body) : connection_(connection), body_(body) {}

  bool turn() {
    if (!sealed_ && !(sealed_ = connection_.seal(head_))) return false;
    const std::size_t of_head = std::min(sent_, head_.size());
    const std::size_t of_body = sent_ - of_head;
    sent_ += connection_.trySendBoth(std::span(head_).subspan(of_head), std::span(body_).subspan(of_body));
    if (sent_ < head_.size() + body_.size()) return false;
    connection_.finishSend();
    return true;
  }

 private:
  Connection& connection_;
  const Bytes& body_;
  std::array<std::byte, kHeadBytes> head_{};
  bool sealed_ = false;
  std::size_t sent_ = 0;
};

// The other end. `in_place`: looks at what has arrived, eight bytes at a time, instead of having it moved.
class Receiving {
 public:
  Receiving(Connection& connection, std::size_t bytes, bool in_place)
      : connection_(connection), body_(bytes), in_place_(in_place) {}

  bool turn() {
    if (!begun_ && !begin()) return false;
    if (done_ < body_.size())
      done_ += in_place_ ? look() : connection_.tryReceive(std::span(body_).subspan(done_));
    if (done_ < body_.size()) return false;
    connection_.finishReceive();
    return true;
  }
  const Bytes& body() const { return body_; }

 private:
  bool begin() {
    connection_.fetch(kHeadBytes + body_.size());
    const auto ready = connection_.peek();
    if (ready.size() < kHeadBytes) return false;
    EXPECT_TRUE(connection_.isGenuine(ready.first<kHeadBytes>()));
    connection_.consume(kHeadBytes);
    return begun_ = true;
  }

  std::size_t look() {
    connection_.fetch(body_.size() - done_);
    const auto ready = connection_.peek();
    const std::size_t part = std::min(ready.size(), body_.size() - done_) / 8 * 8;
    std::copy_n(ready.begin(), part, body_.begin() + static_cast<std::ptrdiff_t>(done_));
    connection_.consume(part);
    return part;
  }

  Connection& connection_;
  Bytes body_;
  const bool in_place_;
  bool begun_ = false;
  std::size_t done_ = 0;
};

bool carryOut(Sending& sending, Receiving& receiving) {
  bool sent = false;
  bool received = false;
  return runUntil([&] {
    if (!sent) sent = sending.turn();
    if (!received) received = receiving.turn();
    return sent && received;
  });
}

void expectMessage(TcpWorld& world, int from, int to, std::size_t bytes, bool in_place) {
  const Bytes body = sampleBytes(bytes);
  Sending sending(world.connection(from, to), body);
  Receiving receiving(world.connection(to, from), bytes, in_place);
  ASSERT_TRUE(carryOut(sending, receiving)) << bytes;
  EXPECT_TRUE(receiving.body() == body) << bytes << " bytes from rank " << from << " to " << to;
}

TEST(TcpGroup, CarriesMessagesOfAllSizes) {
  for (const int streams : {1, 3}) {
    TcpWorld world(2, streams);
    for (const std::size_t bytes :
         {8U, 0U, 64U, 1000U, 100'000U, 512U << 10, (512U << 10) - 64, 3'000'000U}) {
      for (const bool in_place : {false, true}) {
        expectMessage(world, 0, 1, bytes, in_place);
        expectMessage(world, 1, 0, bytes, in_place);
      }
    }
  }
}

TEST(TcpGroup, CarriesIpv6) {
  TcpWorld world(2, 1, "::1");
  expectMessage(world, 1, 0, 10'000, false);
}

TEST(TcpGroup, ConnectsOnlyWhoTalks) {
  TcpWorld world(4);
  expectMessage(world, 2, 0, 104, false);
  expectMessage(world, 3, 1, 104, true);
  expectMessage(world, 0, 2, 104, true);
}

TEST(TcpGroup, SaysThatThePeerHasGone) {
  TcpWorld world(2);
  expectMessage(world, 0, 1, 100, false);
  const Bytes body = sampleBytes(1'000'000);
  Sending last(world.connection(0, 1), body);
  ASSERT_FALSE(last.turn()) << "a chunk at most";
  world.end(0);
  Receiving receiving(world.connection(1, 0), body.size(), false);
  ASSERT_TRUE(runUntil([&] { return receiving.turn() || !world.connection(1, 0).failure().ok(); }));
  EXPECT_FALSE(world.connection(1, 0).failure().ok());
}

// Who dials has sent all it had behind its proof, perhaps, and left.
TEST(TcpGroup, SomethingMayComeFromAPeerUntilItsConnectionHasEnded) {
  TcpWorld world(2);
  Connection& dialler = world.connection(0, 1);
  Connection& acceptor = world.connection(1, 0);
  EXPECT_FALSE(acceptor.mayStillDeliver());
  std::array<std::byte, kHeadBytes> head{};
  ASSERT_TRUE(runUntil([&] {
    if (!acceptor.mayStillDeliver()) static_cast<void>(dialler.seal(head));
    return acceptor.isUp() || acceptor.mayStillDeliver();
  }));
  EXPECT_FALSE(acceptor.isUp()) << "its proof has not come";
  world.end(0);
  ASSERT_TRUE(runUntil([&] { return !acceptor.isUp() && !acceptor.mayStillDeliver(); }));
}

TEST(TcpGroup, SaysThatNobodyListens) {
  TcpWorld world(2);
  world.end(1);
  const Bytes body(10);
  Sending sending(world.connection(0, 1), body);
  ASSERT_TRUE(runUntil([&] { return sending.turn() || !world.connection(0, 1).failure().ok(); }));
  EXPECT_EQ(world.connection(0, 1).failure().message(), "connecting: Connection refused");
}

TEST(TcpGroup, SaysThatNobodyCanBeLetIn) {
  TcpWorld world(2);
  const Bytes body(10);
  Sending sending(world.connection(0, 1), body);
  ASSERT_FALSE(sending.turn()) << "it has knocked";
  std::vector<pop::sys::Fd> all;
  do {
    all.emplace_back(::dup(0));
  } while (all.back().valid());
  ASSERT_TRUE(
      runUntil([&] { return world.connection(1, 0).isUp() || !world.connection(1, 0).failure().ok(); }));
  EXPECT_EQ(world.connection(1, 0).failure().message(),
            "accepting a connection (ulimit -n): Too many open files");

  all.clear();
  Receiving receiving(world.connection(1, 0), body.size(), false);
  EXPECT_TRUE(carryOut(sending, receiving)) << "it is over";
  EXPECT_TRUE(world.connection(1, 0).failure().ok());
}

// ---- unauthenticated clients

pop::sys::Fd knockAt(const std::string& address) {
  const auto space = address.find(' ');
  const SocketAddress to =
      SocketAddress::parse(address.substr(0, space), std::stoi(address.substr(space))).value();
  return beginConnecting(SocketAddress::parse(to.text(), 0).value(), to).value();
}

bool isClosed(const pop::sys::Fd& socket) {
  char byte = 0;
  const ssize_t got = ::recv(socket.get(), &byte, 1, MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno == ECONNRESET);
}

TEST(TcpGroup, TurnsUnauthenticatedClientsAwayAndGoesOn) {
  TcpWorld world(2);
  std::mt19937 random(1);
  std::vector<pop::sys::Fd> unauthenticated;
  for (int i = 0; i < 40; ++i) {
    unauthenticated.push_back(knockAt(world.address(1)));
    std::array<unsigned char, 200> noise;
    for (unsigned char& byte : noise) byte = static_cast<unsigned char>(random());
    ::send(unauthenticated.back().get(), noise.data(), static_cast<std::size_t>(i) * 5, MSG_NOSIGNAL);
  }
  expectMessage(world, 0, 1, 1000, false);
  expectMessage(world, 1, 0, 1000, true);
  for (std::size_t i = 12; i < unauthenticated.size(); ++i) {
    ASSERT_TRUE(runUntil([&] { return isClosed(unauthenticated[i]); })) << "unauthenticated client " << i;
  }
}

// No more descriptors than this for as long as it lives.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(pop::sys::Fd(::dup(0)).get()) + more;
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(TcpGroup, LetsMembersInWhereUnauthenticatedClientsTakeAllDescriptors) {
  TcpWorld world(2);
  std::vector<pop::sys::Fd> unauthenticated;
  for (int i = 0; i < 80; ++i) unauthenticated.push_back(knockAt(world.address(1)));
  const Bytes body(10);
  Sending sending(world.connection(0, 1), body);
  ASSERT_FALSE(sending.turn()) << "it has knocked";
  const FewDescriptors few(40);
  Receiving receiving(world.connection(1, 0), body.size(), false);
  EXPECT_TRUE(carryOut(sending, receiving));
}

// Of whoever comes first many may be members who have said nothing yet.
TEST(TcpGroup, LetsMembersInBeforeWhomCrowdsOfUnauthenticatedClientsCome) {
  TcpWorld world(2);
  std::vector<pop::sys::Fd> unauthenticated;
  const auto crowd = [&] {
    for (int i = 0; i < 200; ++i) unauthenticated.push_back(knockAt(world.address(1)));
  };
  crowd();
  const Bytes body(10);
  Sending sending(world.connection(0, 1), body);
  ASSERT_FALSE(sending.turn()) << "it has knocked";
  crowd();
  ASSERT_FALSE(sending.turn()) << "it has introduced itself";
  Receiving receiving(world.connection(1, 0), body.size(), false);
  EXPECT_TRUE(carryOut(sending, receiving));
}

TEST(TcpGroup, TurnsAwayMembersThatItDoesNotExpect) {
  TcpWorld world(3);
  expectMessage(world, 0, 1, 10, false);
  const Introduction wrong[] = {
      {.group = 5, .from = 1, .to = 0},  // the lower rank dials
      {.group = 5, .from = 0, .to = 1},  // is there already
      {.group = 5, .from = 0, .to = 2}, {.group = 6, .from = 0, .to = 2},
      {.group = 5, .from = 9, .to = 1}, {.group = 5, .from = 0, .to = 1, .stream = 1}};
  for (const Introduction& introduction : wrong) {
    SocketSleeper sleeper;
    Dialler dialler(TcpWorld::kKey, introduction);
    const auto space = world.address(1).find(' ');
    const SocketAddress to =
        SocketAddress::parse("127.0.0.1", std::stoi(world.address(1).substr(space))).value();
    pop::sys::Fd socket;
    ASSERT_TRUE(runUntil([&] {
      world.groupOf(1).receivePending();
      if (!socket.valid()) {
        auto dialled = dialler.advance(SocketAddress::parse("127.0.0.1", 0).value(), to, sleeper);
        if (!dialled.ok()) return true;
        if (dialled->has_value()) socket = std::move((*dialled)->socket);
      }
      return socket.valid() && isClosed(socket);
    }));
  }
  expectMessage(world, 1, 0, 1000, true);
}

TEST(SocketAddress, TakesNumericAddressesOnly) {
  for (const char* const good : {"10.1.2.3", "::1", "fd00::7"}) {
    EXPECT_EQ(SocketAddress::parse(good, 7).value().text(), good);
    EXPECT_EQ(SocketAddress::parse(good, 7).value().port(), 7);
  }
  for (const char* const bad : {"", "localhost", "10.1.2", "1.2.3.4%lo", ":::", "fd00::7 "})
    EXPECT_FALSE(SocketAddress::parse(bad, 7).ok()) << bad;
  EXPECT_FALSE(SocketAddress::parse("::1", 70'000).ok());
}

TEST(SocketAddress, OfALinkKeepsItsInterface) {
  EXPECT_EQ(SocketAddress::parse("fe80::1%lo", 1).value().text(), "fe80::1%lo");
  const SocketAddress own = SocketAddress::parse("fe80::2%lo", 0).value();
  EXPECT_EQ(SocketAddress::parse("fe80::1%there", 1).value().seenFrom(own).text(), "fe80::1%lo");
  EXPECT_EQ(SocketAddress::parse("fd00::1", 1).value().seenFrom(own).text(), "fd00::1");
}

// Rank 0 dials; rank 1 gives up before it has begun to.
TEST(TcpGroup, WhoGivesUpWaitsForThoseWhoDialALittleLater) {
  TcpWorld world(2);
  std::thread late([&] { world.groupOf(0).callAll(kTimeout); });
  bool is_up = false;
  world.groupOf(1).callAll(kTimeout, [&](Connection&) { is_up = true; });
  world.groupOf(1).close();
  late.join();
  EXPECT_TRUE(is_up);
}

}  // namespace
}  // namespace popdist::transport
