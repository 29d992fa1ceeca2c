// SPDX-License-Identifier: Apache-2.0
#include "common/sys/unix_socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pop::sys {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A name of our own: abstract names are the whole machine's.
std::string uniqueName() {
  static int count = 0;
  return "pop-unit-sys-" + std::to_string(::getpid()) + '-' + std::to_string(++count);
}

void waitReadable(const Fd& fd) {
  pollfd readable{fd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&readable, 1, 20'000), 1);
}

TEST(SocketPair, CarriesBytesBothWays) {
  const auto [first, second] = socketPair().value();
  ASSERT_TRUE(sendAll(first.get(), "there").ok());
  ASSERT_TRUE(sendAll(second.get(), "back").ok());
  EXPECT_EQ(receiveSome(second.get()).value().bytes, "there");
  EXPECT_EQ(receiveSome(first.get()).value().bytes, "back");
}

TEST(ReceiveSome, SaysWhenThereIsNothingYet) {
  const auto [first, second] = socketPair().value();
  const Received nothing = std::move(receiveSome(second.get())).value();
  EXPECT_TRUE(nothing.would_block);
  EXPECT_EQ(nothing.bytes, "");
}

TEST(ReceiveSome, SaysWhenTheOtherSideIsGone) {
  auto [first, second] = socketPair().value();
  ASSERT_TRUE(sendAll(first.get(), "last words").ok());
  first.reset();
  EXPECT_EQ(receiveSome(second.get()).value().bytes, "last words");
  const Received end = std::move(receiveSome(second.get())).value();
  EXPECT_FALSE(end.would_block);
  EXPECT_EQ(end.bytes, "");
}

TEST(ReceiveSome, TakesAResetForAnEnd) {
  auto [first, second] = socketPair().value();
  ASSERT_TRUE(sendAll(second.get(), "never read").ok());
  first.reset();  // with bytes unread: the other side gets a reset
  const Result<Received> end = receiveSome(second.get());
  ASSERT_TRUE(end.ok()) << end.status().message();
  EXPECT_FALSE(end.value().would_block);
  EXPECT_EQ(end.value().bytes, "");
}

TEST(SendAll, ToNobodyIsAnErrorNotASignal) {
  auto [first, second] = socketPair().value();
  second.reset();
  EXPECT_EQ(sendAll(first.get(), "hello").code(), Code::kUnavailable);
}

class SendAllMuch : public ::testing::TestWithParam<bool> {};

TEST_P(SendAllMuch, ArrivesWhole) {
  auto [first, second] = socketPair().value();
  if (GetParam()) {
    ASSERT_TRUE(setNonBlocking(first.get()).ok());
  }
  std::string text(4 << 20, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 + i / 1000);
  std::thread sender([&text, &from = first] {
    EXPECT_TRUE(sendAll(from.get(), text).ok());
    from.reset();
  });
  std::string got;
  while (true) {
    waitReadable(second);
    const Received received = std::move(receiveSome(second.get())).value();
    if (received.bytes.empty() && !received.would_block) break;
    got += received.bytes;
  }
  sender.join();
  EXPECT_TRUE(got == text);
}

INSTANTIATE_TEST_SUITE_P(BlockingOrNot, SendAllMuch, ::testing::Bool(),
                         [](const auto& each) { return each.param ? "NonBlocking" : "Blocking"; });

TEST(PassedDescriptors, ReferToTheSameFile) {
  const auto [first, second] = socketPair().value();
  Pipe pipe = makePipe().value();
  const std::array<int, 1> fds{pipe.write_end.get()};
  ASSERT_TRUE(sendAll(first.get(), "take this", fds).ok());
  const Received received = std::move(receiveSome(second.get())).value();
  EXPECT_EQ(received.bytes, "take this");
  ASSERT_EQ(received.fds.size(), 1U);
  EXPECT_EQ(::fcntl(received.fds[0].get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  pipe.write_end.reset();
  ASSERT_TRUE(writeAll(received.fds[0].get(), "through").ok());
  std::array<char, 16> got{};
  EXPECT_EQ(::read(pipe.read_end.get(), got.data(), got.size()), 7);
}

TEST(PassedDescriptors, ComeInOrderAndOnlyOnce) {
  const auto [first, second] = socketPair().value();
  std::vector<Pipe> pipes;
  std::vector<int> fds;
  for (int count = 0; count < 8; ++count) {
    pipes.push_back(makePipe().value());
    fds.push_back(pipes.back().write_end.get());
  }
  ASSERT_TRUE(sendAll(first.get(), "a", fds).ok());
  ASSERT_TRUE(sendAll(first.get(), "b").ok());
  const Received received = std::move(receiveSome(second.get())).value();
  ASSERT_EQ(received.fds.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(writeAll(received.fds[i].get(), std::to_string(i)).ok());
    char byte = 0;
    EXPECT_EQ(::read(pipes[i].read_end.get(), &byte, 1), 1);
    EXPECT_EQ(byte, static_cast<char>('0' + i));
  }
  const Received rest = std::move(receiveSome(second.get())).value();
  EXPECT_THAT(rest.fds, IsEmpty());
}

TEST(PassedDescriptors, ThatFindNoRoomAreSaidToBeLost) {
  const auto [first, second] = socketPair().value();
  const std::array<int, 3> fds{0, 1, 2};
  ASSERT_TRUE(sendAll(first.get(), "a", fds).ok());
  ASSERT_TRUE(sendAll(first.get(), "b", fds).ok());
  const int next = Fd(::dup(0)).get();
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlim_t before = std::exchange(limit.rlim_cur, static_cast<rlim_t>(next) + 2);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  const Received some = std::move(receiveSome(second.get())).value();
  limit.rlim_cur = before;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(some.bytes, "a");
  EXPECT_TRUE(some.lost_fds);
  const Received all = std::move(receiveSome(second.get())).value();
  EXPECT_EQ(all.bytes, "b");
  EXPECT_EQ(all.fds.size(), 3U);
  EXPECT_FALSE(all.lost_fds);
}

TEST(PassedDescriptors, TravelOnceAlthoughTheBytesTakeLong) {
  auto [first, second] = socketPair().value();
  ASSERT_TRUE(setNonBlocking(first.get()).ok());  // then no single call takes it all
  const Pipe pipe = makePipe().value();
  const std::string text(2 << 20, 'x');
  std::thread sender([&text, &pipe, &from = first] {
    const std::array<int, 1> fds{pipe.write_end.get()};
    EXPECT_TRUE(sendAll(from.get(), text, fds).ok());
    from.reset();
  });
  std::size_t bytes = 0;
  std::size_t fds = 0;
  while (true) {
    waitReadable(second);
    const Received received = std::move(receiveSome(second.get())).value();
    if (received.bytes.empty() && !received.would_block) break;
    bytes += received.bytes.size();
    fds += received.fds.size();
  }
  sender.join();
  EXPECT_EQ(bytes, text.size());
  EXPECT_EQ(fds, 1U);
}

TEST(AbstractSocket, ConnectsByName) {
  const std::string name = uniqueName();
  const Fd listener = listenAbstract(name).value();
  EXPECT_FALSE(acceptConnection(listener.get()).value().valid()) << "nobody there yet";
  const Fd client = connectAbstract(name).value();
  const Fd server = acceptConnection(listener.get()).value();
  ASSERT_TRUE(server.valid());
  EXPECT_NE(::fcntl(server.get(), F_GETFL) & O_NONBLOCK, 0);
  ASSERT_TRUE(sendAll(client.get(), "hello").ok());
  EXPECT_EQ(receiveSome(server.get()).value().bytes, "hello");
  EXPECT_EQ(peerUser(server.get()).value(), ::geteuid());
}

TEST(AbstractSocket, HasAnOwnerAndNoFile) {
  const std::string name = uniqueName();
  {
    const Fd listener = listenAbstract(name).value();
    EXPECT_THAT(listenAbstract(name).status().message(), HasSubstr("listening on the socket @" + name));
  }
  EXPECT_TRUE(listenAbstract(name).ok()) << "free again, with nothing to clean up";
}

TEST(AbstractSocket, ThatNobodyListensOnRefuses) {
  const std::string name = uniqueName();
  const Result<Fd> client = connectAbstract(name);
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.code(), Code::kUnavailable);
  EXPECT_THAT(client.status().message(), HasSubstr('@' + name));
}

TEST(AbstractSocket, NamesHaveALimit) {
  EXPECT_TRUE(listenAbstract(uniqueName() + std::string(60, 'x')).ok());
  EXPECT_EQ(listenAbstract(std::string(108, 'x')).code(), Code::kInvalidArgument);
  EXPECT_EQ(connectAbstract(std::string(108, 'x')).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace pop::sys
