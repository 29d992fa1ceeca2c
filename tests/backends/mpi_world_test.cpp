// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/mpi/mpi_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "agent/mpi/pmi/pmi_server.h"
#include "common/os/epoll_loop.h"

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

/// The agent of instances 0 and 1; this process is the first, the second never says a word.
class Agent {
 public:
  Agent() {
    pop::JobSlice slice;
    slice.num_instances = 2;
    slice.env_families = {pop::contract::EnvFamily::kPmi};
    slice.instances.resize(2);
    slice.instances[1].env.instance_index = 1;
    server_.open(slice);
    own_ = server_.connect(0).value();
    other_ = server_.connect(1).value();
    ::setenv("PMI_FD", std::to_string(own_.get()).c_str(), 1);
    ::setenv("PMI_RANK", "0", 1);
    ::setenv("PMI_SIZE", "2", 1);
    runs_ = std::thread([this] { loop_.run(); });
  }
  ~Agent() {
    loop_.stop();
    runs_.join();
  }

 private:
  pop::os::EpollLoop loop_;
  pop::agent::PmiServer server_{loop_, {}};
  pop::sys::Fd own_;
  pop::sys::Fd other_;
  std::thread runs_;
};

// MPI's own start waits for ever for a rank that never says a word to the agent.
[[noreturn]] void startWithoutTheOther() {
  const Agent agent;
  const PopdistGroupInfo info = firstOf(2, 500);
  bool as_expected = true;
  for (int i = 0; i < 2; ++i) {
    const pop::Status status = MpiWorld::ofProcess().start(info, {MpiWorld::offer(), "-"});
    std::fprintf(stderr, "%s\n", status.message().c_str());
    as_expected = as_expected && status.code() == pop::Code::kDeadlineExceeded;
  }
  std::_Exit(as_expected && !MpiWorld::ofProcess().isStarted() ? 0 : 1);
}

TEST(MpiWorldDeathTest, DoesNotStartWithoutAllRanks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(startWithoutTheOther(), ::testing::ExitedWithCode(0),
              "not all ranks initialized MPI.*\nnot all ranks initialized MPI");
}

TEST(MpiWorld, DoesNotStartSeveralRanksWithoutPmi) {
  ::unsetenv("PMI_FD");
  const pop::Status status = MpiWorld::ofProcess().start(firstOf(2), {MpiWorld::offer(), "-"});
  EXPECT_EQ(status.code(), pop::Code::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("--env-for must include pmi"));
}

// A process starts MPI once: each of these in one of its own.
[[noreturn]] void startAfterTheProgram(int threads) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, threads, &provided);
  const PopdistGroupInfo info = firstOf(1);
  const pop::Status status = MpiWorld::ofProcess().start(info, {MpiWorld::offer()});
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::_Exit(status.ok() ? 0 : 1);
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
