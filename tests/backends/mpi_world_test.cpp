// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/mpi/mpi_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace popdist::backends {
namespace {

using ::testing::HasSubstr;

constexpr std::array<std::int32_t, 2> kInstances{0, 1};

PopdistGroupInfo firstOf(int ranks, std::int64_t timeout_ms = 20'000) {
  return {.number = 0,
          .rank = 0,
          .ranks = ranks,
          .instances = kInstances.data(),
          .host_address = "127.0.0.1",
          .timeout_ms = timeout_ms,
          .library = nullptr,
          .ended = [](void*, char*, std::size_t) { return 0; }};
}

// One that it has made serves until the process ends, and may have been told to others already.
TEST(MpiWorld, OffersTheSameProcessManagerAgain) {
  const PopdistGroupInfo info = firstOf(2);
  const auto first = MpiWorld::ofProcess().offer(info);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(MpiWorld::ofProcess().offer(info).value(), first.value());
}

// MPI's own start waits for ever for a rank that never says a word to the process manager.
TEST(MpiWorld, DoesNotStartWithoutAllRanks) {
  const PopdistGroupInfo info = firstOf(2, 500);
  MpiWorld& world = MpiWorld::ofProcess();
  const pop::Result<std::string> offer = world.offer(info);
  ASSERT_TRUE(offer.ok()) << offer.status().message();
  for (int i = 0; i < 2; ++i) {
    const pop::Status status = world.start(info, {offer.value(), "-"});
    EXPECT_EQ(status.code(), pop::Code::kDeadlineExceeded);
    EXPECT_THAT(status.message(), HasSubstr("not all ranks initialized MPI"));
    EXPECT_FALSE(world.isStarted());
  }
}

// A process starts MPI once: each of these in one of its own.
[[noreturn]] void startAfterTheProgram(int threads) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, threads, &provided);
  const PopdistGroupInfo info = firstOf(1);
  MpiWorld& world = MpiWorld::ofProcess();
  const pop::Status status = world.start(info, {world.offer(info).value()});
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::_Exit(status.ok() ? 0 : 1);
}

[[noreturn]] void startWithVariablesOfTheUser() {
  ::setenv("UCX_NET_DEVICES", "lo", 0);
  ::setenv("PMI_RANK", "7", 1);
  ::unsetenv("PMI_SIZE");
  const PopdistGroupInfo info = firstOf(1);
  MpiWorld& world = MpiWorld::ofProcess();
  const pop::Status status = world.start(info, {world.offer(info).value()});
  const char* const rank = std::getenv("PMI_RANK");
  std::fprintf(stderr, "%s PMI_RANK=%s %s\n", status.message().c_str(), rank == nullptr ? "" : rank,
               std::getenv("PMI_SIZE") == nullptr ? "no PMI_SIZE" : "PMI_SIZE");
  std::_Exit(status.ok() ? 0 : 1);
}

TEST(MpiWorldDeathTest, LeavesTheEnvironmentAsItWas) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(startWithVariablesOfTheUser(), ::testing::ExitedWithCode(0), "PMI_RANK=7 no PMI_SIZE");
}

TEST(MpiWorldDeathTest, JoinsWhereTheProgramHasStartedMpi) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(startAfterTheProgram(MPI_THREAD_MULTIPLE), ::testing::ExitedWithCode(0), "");
}

TEST(MpiWorldDeathTest, RefusesAnMpiThatThreadsCannotShare) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(startAfterTheProgram(MPI_THREAD_SINGLE), ::testing::ExitedWithCode(1),
              "call MPI_Init_thread with it, or let this backend initialize MPI");
}

}  // namespace
}  // namespace popdist::backends
