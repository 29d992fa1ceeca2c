// SPDX-License-Identifier: Apache-2.0
// Connections that are passed on, over real sockets.
#include "popdistd/leader/pass_through.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <iterator>
#include <thread>
#include <vector>

#include "tests/testing/free_port.h"
#include "tests/testing/process_tree.h"

namespace pop::popdistd {
namespace {

// Blocking, on the test's thread; what is tested has the loop's.
sys::Fd connectTo(int port, const char* from = "127.0.0.1") {
  sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in own{};
  own.sin_family = AF_INET;
  ::inet_pton(AF_INET, from, &own.sin_addr);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  const timeval limit{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return socket;
}

std::string readToEnd(const sys::Fd& socket) {
  std::string all;
  std::string bytes(65536, '\0');
  for (ssize_t count = 0; (count = ::recv(socket.get(), bytes.data(), bytes.size(), 0)) > 0;)
    all.append(bytes, 0, static_cast<std::size_t>(count));
  return all;
}

class PassThroughTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto passes = PassThrough::start(
        loop_, {.listen = {"127.0.0.1", 0},
                .target = [this] { return target_; },
                .limits = {.most = 6, .most_unknown = 4, .most_unknown_of_one = 3, .always_of_one = 1},
                .first_byte_timeout = first_byte_timeout_});
    ASSERT_TRUE(passes.ok()) << passes.status().message();
    passes_ = std::move(*passes);
    target_ = PassThroughTarget{{"127.0.0.1", server_.port}, nullptr};
    thread_ = std::thread([this] { loop_.run(); });
  }
  void TearDown() override {
    loop_.stop();
    thread_.join();
  }
  void onLoop(const std::function<void()>& task) {
    std::atomic<bool> done = false;
    loop_.post([&] {
      task();
      done = true;
      done.notify_all();
    });
    done.wait(false);
  }
  sys::Fd accepted() {
    sys::Fd socket;
    while (!socket.valid()) socket = os::acceptConnection(server_.socket.get()).socket;
    const int flags = ::fcntl(socket.get(), F_GETFL);
    ::fcntl(socket.get(), F_SETFL, flags & ~O_NONBLOCK);
    return socket;
  }

  // The leader's bytes for a client that says "x".
  sys::Fd dialledFor(const sys::Fd& client) {
    EXPECT_TRUE(sys::writeAll(client.get(), "x").ok());
    sys::Fd server = accepted();
    EXPECT_EQ(read(server, 1), "x");
    return server;
  }
  static std::string read(const sys::Fd& socket, std::size_t count) {
    std::string bytes(count, '\0');
    const ssize_t came = ::recv(socket.get(), bytes.data(), count, MSG_WAITALL);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(came, 0)));
    return bytes;
  }
  static End endOf(const sys::Fd& socket) {
    sockaddr_in own{};
    socklen_t bytes = sizeof own;
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &bytes);
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &own.sin_addr, text.data(), text.size());
    return {text.data(), ntohs(own.sin_port)};
  }

  os::EpollLoop loop_;
  const os::Listener server_ = std::move(os::listenAt("127.0.0.1", 0)).value();
  std::optional<PassThroughTarget> target_;
  std::chrono::milliseconds first_byte_timeout_ = std::chrono::seconds(10);
  std::unique_ptr<PassThrough> passes_;
  std::thread thread_;
};

TEST_F(PassThroughTest, CarriesBothDirectionsToTheirEnds) {
  const sys::Fd client = connectTo(passes_->port());
  const sys::Fd server = dialledFor(client);
  const std::string much(8 << 20, 'x');  // more than sockets keep
  std::thread writer([&] {
    EXPECT_TRUE(sys::writeAll(client.get(), much).ok());
    ::shutdown(client.get(), SHUT_WR);
  });
  EXPECT_EQ(readToEnd(server), much);
  writer.join();
  EXPECT_TRUE(sys::writeAll(server.get(), "answer").ok());
  ::shutdown(server.get(), SHUT_WR);
  EXPECT_EQ(readToEnd(client), "answer")
      << "half of a connection that is closed is no reason to close the other";
}

TEST_F(PassThroughTest, LetsAClientGoThatStaysWhenTheLeaderHasEnded) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = descriptors();
  const sys::Fd client = connectTo(passes_->port());
  dialledFor(client).reset();
  EXPECT_EQ(readToEnd(client), "");
  EXPECT_TRUE(testing::waitUntil([&] { return descriptors() == before + 1; }, std::chrono::seconds(20)));
}

TEST_F(PassThroughTest, WithoutALeaderConnectionsAreClosed) {
  onLoop([&] { target_.reset(); });
  EXPECT_EQ(readToEnd(connectTo(passes_->port())), "");
  onLoop([&] { target_ = PassThroughTarget{{"127.0.0.1", testing::freePort()}, nullptr}; });
  const sys::Fd client = connectTo(passes_->port());
  EXPECT_TRUE(sys::writeAll(client.get(), "x").ok());
  EXPECT_EQ(readToEnd(client), "");
}

TEST_F(PassThroughTest, EndsConnectionsWhenItIsTold) {
  const sys::Fd client = connectTo(passes_->port());
  const sys::Fd server = dialledFor(client);
  EXPECT_TRUE(sys::writeAll(server.get(), "x").ok());
  char byte = 0;
  EXPECT_EQ(::recv(client.get(), &byte, 1, 0), 1);
  onLoop([&] { passes_->closeConnections(); });
  EXPECT_EQ(readToEnd(client), "");
  EXPECT_EQ(readToEnd(server), "");
}

TEST_F(PassThroughTest, SaysToTheLeaderWhoTheClientIs) {
  onLoop([&] { target_->headers = std::make_shared<HeaderWriter>("key", 1); });
  const sys::Fd client = connectTo(passes_->port(), "127.0.0.2");
  EXPECT_TRUE(sys::writeAll(client.get(), "hello").ok());
  const sys::Fd server = accepted();
  const auto header = decodeClientHeader(read(server, kClientHeaderBytes), "key");
  ASSERT_TRUE(header.ok()) << header.status().message();
  EXPECT_EQ(header.value().client, endOf(client));
  EXPECT_EQ(read(server, 5), "hello");
}

TEST_F(PassThroughTest, SaysItToNobodyElse) {
  onLoop([&] {
    const os::Place nobody{"127.0.0.1", testing::freePort()};
    target_ = PassThroughTarget{nobody, std::make_shared<HeaderWriter>("key", 1)};
    PassThroughSettings settings{.listen = {"127.0.0.1", 0}, .target = [this] { return target_; }};
    settings.otherwise = os::Place{"127.0.0.1", server_.port};
    passes_ = std::move(PassThrough::start(loop_, std::move(settings))).value();
  });
  dialledFor(connectTo(passes_->port()));
}

TEST_F(PassThroughTest, OneAddressDoesNotTakeAllConnections) {
  std::vector<sys::Fd> crowd;
  for (int i = 0; i < 3; ++i) crowd.push_back(connectTo(passes_->port(), "127.0.0.2"));
  EXPECT_EQ(readToEnd(connectTo(passes_->port(), "127.0.0.2")), "");
  dialledFor(connectTo(passes_->port(), "127.0.0.3"));
  onLoop([&] { passes_->closeConnections(); });
  dialledFor(connectTo(passes_->port(), "127.0.0.2"));
}

class SilentClientTest : public PassThroughTest {
 protected:
  SilentClientTest() { first_byte_timeout_ = std::chrono::milliseconds(100); }
};

TEST_F(SilentClientTest, IsNotWaitedForAndCostsTheLeaderNothing) {
  EXPECT_EQ(readToEnd(connectTo(passes_->port())), "");
  EXPECT_FALSE(os::acceptConnection(server_.socket.get()).socket.valid());
}

}  // namespace
}  // namespace pop::popdistd
