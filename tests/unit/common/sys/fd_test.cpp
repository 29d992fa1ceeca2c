// SPDX-License-Identifier: Apache-2.0
#include "common/sys/fd.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <thread>
#include <utility>

namespace pop::sys {
namespace {

using ::testing::HasSubstr;

bool isOpen(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

Fd someFile() {
  return Fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
}

TEST(Fd, ClosesWhatItOwns) {
  int number = -1;
  {
    const Fd fd = someFile();
    number = fd.get();
    EXPECT_TRUE(fd.valid());
    EXPECT_TRUE(isOpen(number));
  }
  EXPECT_FALSE(isOpen(number));
}

TEST(Fd, AMoveLeavesOneOwner) {
  Fd first = someFile();
  const int number = first.get();
  Fd second = std::move(first);
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): that is the point
  EXPECT_EQ(second.get(), number);
  first.reset();
  EXPECT_TRUE(isOpen(number));
}

TEST(Fd, AnAssignmentClosesTheOldOne) {
  Fd target = someFile();
  Fd source = someFile();
  const int old_number = target.get();
  const int new_number = source.get();
  target = std::move(source);
  EXPECT_FALSE(isOpen(old_number));
  EXPECT_TRUE(isOpen(new_number));
  EXPECT_EQ(target.get(), new_number);
  Fd& same = target;
  target = std::move(same);
  EXPECT_TRUE(isOpen(new_number)) << "assigned to itself it stays open";
}

TEST(Fd, AReleasedOneStaysOpen) {
  Fd fd = someFile();
  const int number = fd.release();
  fd.reset();
  EXPECT_FALSE(fd.valid());
  EXPECT_TRUE(isOpen(number));
  ::close(number);
}

TEST(Pipe, IsCloseOnExecAndCarriesBytes) {
  const Pipe pipe = makePipe().value();
  EXPECT_EQ(::fcntl(pipe.read_end.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(::fcntl(pipe.write_end.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  ASSERT_TRUE(writeAll(pipe.write_end.get(), "hello").ok());
  std::array<char, 16> got{};
  EXPECT_EQ(::read(pipe.read_end.get(), got.data(), got.size()), 5);
  EXPECT_STREQ(got.data(), "hello");
}

TEST(SetNonBlocking, MakesAReadReturnAtOnce) {
  const Pipe pipe = makePipe().value();
  ASSERT_TRUE(setNonBlocking(pipe.read_end.get()).ok());
  char byte = 0;
  EXPECT_EQ(::read(pipe.read_end.get(), &byte, 1), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_FALSE(setNonBlocking(-1).ok());
}

TEST(WriteAll, WritesMoreThanThePipeHolds) {
  Pipe pipe = makePipe().value();
  const std::string text(1 << 20, 'x');
  std::string got;
  std::thread reader([&] {
    std::array<char, 10'000> chunk{};
    for (ssize_t bytes = 1; bytes > 0;) {
      bytes = ::read(pipe.read_end.get(), chunk.data(), chunk.size());
      if (bytes > 0) got.append(chunk.data(), static_cast<std::size_t>(bytes));
    }
  });
  EXPECT_TRUE(writeAll(pipe.write_end.get(), text).ok());
  pipe.write_end.reset();
  reader.join();
  EXPECT_TRUE(got == text);
}

TEST(WriteAll, FailsWhenNobodyReads) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe = makePipe().value();
  pipe.read_end.reset();
  EXPECT_EQ(writeAll(pipe.write_end.get(), "x").code(), Code::kUnavailable);
  EXPECT_TRUE(writeAll(pipe.write_end.get(), "").ok());
}

TEST(ReadFile, GivesTheWholeContent) {
  const Fd file = Fd(::memfd_create("file", MFD_CLOEXEC));
  std::string text(10'000, 'x');  // longer than one read
  text += std::string("\0\n", 2);
  ASSERT_TRUE(writeAll(file.get(), text).ok());
  EXPECT_EQ(readFile("/proc/self/fd/" + std::to_string(file.get())).value(), text);
  char name[16];
  ASSERT_EQ(::prctl(PR_GET_NAME, name), 0);
  EXPECT_EQ(readFile("/proc/self/comm").value(), std::string(name) + '\n') << "files of /proc have no size";
}

TEST(ReadFile, NamesThePathThatItCannotRead) {
  const Status missing = readFile("/no/such/file").status();
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_THAT(missing.message(), HasSubstr("opening /no/such/file: No such file"));
  EXPECT_THAT(readFile("/proc").status().message(), HasSubstr("reading /proc: Is a directory"));
}

}  // namespace
}  // namespace pop::sys
