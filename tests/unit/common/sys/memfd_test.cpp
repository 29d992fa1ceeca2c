// SPDX-License-Identifier: Apache-2.0
#include "common/sys/memfd.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <utility>

namespace pop::sys {
namespace {

TEST(Memfd, IsZeroedAndSharedByAllWhoMapIt) {
  const Fd fd = createMemfd("test", 1 << 16).value();
  const Mapping first = mapShared(fd.get(), 1 << 16).value();
  const Mapping second = mapShared(fd.get(), 4096).value();
  EXPECT_EQ(first.size(), 1U << 16);
  EXPECT_EQ(second.size(), 4096U);
  EXPECT_NE(first.data(), second.data());
  for (std::size_t i = 0; i < first.size(); ++i) ASSERT_EQ(first.data()[i], std::byte{0});
  first.data()[4095] = std::byte{7};
  EXPECT_EQ(second.data()[4095], std::byte{7});
}

TEST(Memfd, IsSharedBetweenProcesses) {
  const Fd fd = createMemfd("test", 4096).value();
  const Mapping mapping = mapShared(fd.get(), 4096).value();
  const pid_t child = ::fork();
  if (child == 0) {
    mapping.data()[0] = std::byte{42};
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(mapping.data()[0], std::byte{42});
}

TEST(Memfd, CostsNothingUntilItIsTouched) {
  constexpr std::size_t kBytes = std::size_t{16} << 30;
  const Fd fd = createMemfd("test", kBytes).value();
  const Mapping mapping = mapShared(fd.get(), kBytes).value();
  struct stat info {};
  ASSERT_EQ(::fstat(fd.get(), &info), 0);
  EXPECT_EQ(static_cast<std::size_t>(info.st_size), kBytes);
  EXPECT_EQ(info.st_blocks, 0);
  mapping.data()[kBytes - 1] = std::byte{1};
  ASSERT_EQ(::fstat(fd.get(), &info), 0);
  EXPECT_GT(info.st_blocks, 0);
  EXPECT_LE(info.st_blocks * 512, 2 << 20) << "one page, be it a huge one";
}

TEST(Memfd, KeepsItsSize) {
  const Fd fd = createMemfd("test", 8192).value();
  EXPECT_NE(::ftruncate(fd.get(), 4096), 0) << "others rely on what they have mapped";
  EXPECT_NE(::ftruncate(fd.get(), 16384), 0);
}

TEST(Memfd, LargerThanTheLimitOnFilesIsAnErrorNotASignal) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit low{1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const Result<Fd> fd = createMemfd("test", 2 << 20);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(fd.ok());
  EXPECT_EQ(fd.code(), Code::kResourceExhausted);
  EXPECT_NE(fd.status().message().find("ulimit -f"), std::string::npos) << fd.status().message();
}

TEST(Mapping, OfAnonymousMemoryIsZeroed) {
  const Mapping mapping = mapAnonymous(1 << 16).value();
  for (std::size_t i = 0; i < mapping.size(); ++i) ASSERT_EQ(mapping.data()[i], std::byte{0});
  mapping.data()[(1 << 16) - 1] = std::byte{1};
}

TEST(Mapping, MovesWithItsMemory) {
  const Fd fd = createMemfd("test", 4096).value();
  Mapping first = mapShared(fd.get(), 4096).value();
  std::byte* const address = first.data();
  Mapping second = std::move(first);
  EXPECT_EQ(second.data(), address);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): that is the point
  Mapping third;
  third = std::move(second);
  third.data()[0] = std::byte{1};
  EXPECT_EQ(third.data(), address);
}

TEST(Mapping, StaysWhenItsDescriptorIsClosed) {
  Fd fd = createMemfd("test", 4096).value();
  const Mapping mapping = mapShared(fd.get(), 4096).value();
  fd.reset();
  mapping.data()[100] = std::byte{3};
  EXPECT_EQ(mapping.data()[100], std::byte{3});
}

TEST(Mapping, OfNothingIsAnError) {
  EXPECT_FALSE(mapShared(-1, 4096).ok());
}

}  // namespace
}  // namespace pop::sys
