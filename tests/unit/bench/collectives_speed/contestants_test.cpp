// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/contestants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace pop::bench::collectives {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

Contestant named(const std::string& name) {
  return chooseContestants({name}, "/nowhere", nullptr).at(0);
}

Cell cellOf(int ranks, Operation operation = Operation::kAllReduce) {
  return {operation, popdist::Type::kFloat, ranks, 65536};
}

TEST(Contestants, RanksThatShareCoresAreToldToYield) {
  const Contestant openmpi = named("openmpi");
  EXPECT_THAT(openmpi.commandLine(cellOf(2), 6, 2), Not(Contains("mpi_yield_when_idle")));
  EXPECT_THAT(openmpi.commandLine(cellOf(4), 6, 2), IsSupersetOf({"--oversubscribe", "mpi_yield_when_idle"}));
}

TEST(Contestants, SettingsGoBeforeTheLauncherAndTheTaskToTheEnd) {
  Contestant gather = named("mpich-relgather");
  gather.launcher = "/bin/mpiexec.hydra";
  gather.rank_program = "/bin/rank";
  const std::vector<std::string> words = gather.commandLine(cellOf(8), 6, 2);
  EXPECT_EQ(words.front(), "/usr/bin/env");
  EXPECT_THAT(words, Contains("MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM=release_gather"));
  const std::vector<std::string> expected{"-n", "8", "/bin/rank", "all-reduce", "float", "65536", "6"};
  EXPECT_TRUE(std::equal(expected.rbegin(), expected.rend(), words.rbegin()));
}

TEST(Contestants, TakePartWhereTheyHaveTheOperation) {
  EXPECT_TRUE(named("openmpi-ring").takesPart(cellOf(2)));
  EXPECT_FALSE(named("openmpi-ring").takesPart(cellOf(2, Operation::kBroadcast)));
  const Cell of_half{Operation::kAllReduce, popdist::Type::kHalf, 2, 65536};
  EXPECT_TRUE(named("private").takesPart(of_half));
  EXPECT_FALSE(named("openmpi").takesPart(of_half));
}

TEST(Contestants, WhatIsNotThereHasNoPath) {
  EXPECT_EQ(named("private").launcher, "");
  EXPECT_EQ(named("gloo").rank_program, "");
}

}  // namespace
}  // namespace pop::bench::collectives
