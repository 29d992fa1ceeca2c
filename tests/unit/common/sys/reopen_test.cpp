// SPDX-License-Identifier: Apache-2.0
#include "common/sys/reopen.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/sys/unix_socket.h"

namespace pop::sys {
namespace {

bool readable(const Fd& fd) {
  pollfd state{fd.get(), POLLIN, 0};
  return ::poll(&state, 1, 0) == 1;
}

TEST(ReopenNonBlocking, LeavesTheOriginalBlocking) {
  const Pipe pipe = makePipe().value();
  const Fd own = reopenNonBlocking(pipe.read_end.get(), O_RDONLY);
  ASSERT_TRUE(own.valid());
  char byte = 0;
  EXPECT_EQ(::read(own.get(), &byte, 1), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(::fcntl(pipe.read_end.get(), F_GETFL) & O_NONBLOCK, 0);
  ASSERT_TRUE(writeAll(pipe.write_end.get(), "x").ok());
  EXPECT_EQ(::read(own.get(), &byte, 1), 1) << "it is the same pipe";
}

TEST(ReopenNonBlocking, IsForPipesAndTerminals) {
  const auto sockets = std::move(socketPair()).value();
  EXPECT_FALSE(reopenNonBlocking(sockets.first.get(), O_RDONLY).valid());
  EXPECT_FALSE(reopenNonBlocking(-1, O_RDONLY).valid());
  EXPECT_TRUE(S_ISSOCK(modeOf(sockets.first.get())));
}

TEST(ReadinessOf, TellsWhenToReadAndToWrite) {
  const auto sockets = std::move(socketPair()).value();
  const Fd to_read = readinessOf(sockets.first.get(), EPOLLIN);
  const Fd to_write = readinessOf(sockets.first.get(), EPOLLOUT);
  EXPECT_FALSE(readable(to_read));
  EXPECT_TRUE(readable(to_write));
  ASSERT_TRUE(writeAll(sockets.second.get(), "x").ok());
  EXPECT_TRUE(readable(to_read));
}

TEST(ReadinessOf, IsNotForWhatIsAlwaysReady) {
  const Fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(readinessOf(file.get(), EPOLLIN).valid());
}

TEST(SameFile, KnowsAPipeByBothItsEnds) {
  const Pipe one = makePipe().value();
  const Pipe other = makePipe().value();
  EXPECT_TRUE(sameFile(one.read_end.get(), one.write_end.get()));
  EXPECT_FALSE(sameFile(one.read_end.get(), other.read_end.get()));
  EXPECT_FALSE(sameFile(one.read_end.get(), -1));
}

}  // namespace
}  // namespace pop::sys
