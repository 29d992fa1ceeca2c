// SPDX-License-Identifier: Apache-2.0
// Connections that are passed on, over real sockets.
#include "popdistd/leader/pass_through.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <iterator>
#include <thread>

#include "tests/testing/free_port.h"
#include "tests/testing/process_tree.h"

namespace pop::popdistd {
namespace {

// Blocking, on the test's thread; what is tested has the loop's.
sys::Fd connectTo(int port) {
  sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
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
    auto passes = PassThrough::start(loop_, {"127.0.0.1", 0}, [this] { return target_; });
    ASSERT_TRUE(passes.ok()) << passes.status().message();
    passes_ = std::move(*passes);
    target_ = os::Place{"127.0.0.1", server_.port};
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

  os::EpollLoop loop_;
  const os::Listener server_ = std::move(os::listenAt("127.0.0.1", 0)).value();
  std::optional<os::Place> target_;
  std::unique_ptr<PassThrough> passes_;
  std::thread thread_;
};

TEST_F(PassThroughTest, CarriesBothDirectionsToTheirEnds) {
  const sys::Fd client = connectTo(passes_->port());
  const sys::Fd server = accepted();
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
  accepted().reset();
  EXPECT_EQ(readToEnd(client), "");
  EXPECT_TRUE(testing::waitUntil([&] { return descriptors() == before + 1; }, std::chrono::seconds(20)));
}

TEST_F(PassThroughTest, WithoutALeaderConnectionsAreClosed) {
  onLoop([&] { target_.reset(); });
  EXPECT_EQ(readToEnd(connectTo(passes_->port())), "");
  onLoop([&] { target_ = os::Place{"127.0.0.1", testing::freePort()}; });
  EXPECT_EQ(readToEnd(connectTo(passes_->port())), "");
}

TEST_F(PassThroughTest, EndsConnectionsWhenItIsTold) {
  const sys::Fd client = connectTo(passes_->port());
  const sys::Fd server = accepted();
  EXPECT_TRUE(sys::writeAll(server.get(), "x").ok());
  char byte = 0;
  EXPECT_EQ(::recv(client.get(), &byte, 1, 0), 1);
  onLoop([&] { passes_->closeConnections(); });
  EXPECT_EQ(readToEnd(client), "");
  EXPECT_EQ(readToEnd(server), "");
}

}  // namespace
}  // namespace pop::popdistd
