// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/mpi/mpi_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace popdist::backends {
namespace {

using ::testing::HasSubstr;

// MPI's own start waits for ever for a rank that never says a word to the process manager.
TEST(MpiWorld, DoesNotStartWithoutAllRanks) {
  const std::array<std::int32_t, 2> instances{0, 1};
  const PopdistGroupInfo info{
      .number = 0,
      .rank = 0,
      .ranks = 2,
      .instances = instances.data(),
      .host_address = "127.0.0.1",
      .timeout_ms = 500,
      .library = nullptr,
      .ended = [](void*, const std::int32_t*, std::int32_t, char*, std::size_t) { return -1; },
      .time_is_up = [](void*) { return 0; }};
  MpiWorld& world = MpiWorld::ofProcess();
  const pop::Result<std::string> offer = world.offer(info);
  ASSERT_TRUE(offer.ok()) << offer.status().message();
  for (int i = 0; i < 2; ++i) {
    const pop::Status status = world.start(info, {offer.value(), "-"});
    EXPECT_EQ(status.code(), pop::Code::kDeadlineExceeded);
    EXPECT_THAT(status.message(), HasSubstr("not all ranks have started MPI"));
    EXPECT_FALSE(world.isStarted());
  }
}

}  // namespace
}  // namespace popdist::backends
