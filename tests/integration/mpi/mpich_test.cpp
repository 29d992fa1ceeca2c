// SPDX-License-Identifier: Apache-2.0
// Programs linked with MPICH, on one host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

/// MPICH spins where it waits, also when there are more ranks than cores.
constexpr Milliseconds kSpinningTimeout{120'000};

// UCX takes every network interface, also those that tests beside this one make and remove.
PoprunSetup job(int instances, std::vector<std::string> program) {
  PoprunSetup setup{.options = {"-np", std::to_string(instances), "--tag-output", "no"},
                    .environment = {{"UCX_NET_DEVICES", "lo"}}};
  setup.options.insert(setup.options.end(), program.begin(), program.end());
  return setup;
}

class MpichHello : public ::testing::TestWithParam<int> {};

TEST_P(MpichHello, IsOneWorldOfAllInstances) {
  const int instances = GetParam();
  const Outcome outcome = run(job(instances, {MPICH_CHILD_PATH, "hello"}), kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::vector<std::string> lines;
  for (int rank = 0; rank < instances; ++rank) {
    lines.push_back("rank " + std::to_string(rank) + " of " + std::to_string(instances) + ", " +
                    std::to_string(instances) + " on this host, sum " +
                    std::to_string(instances * (instances - 1) / 2));
  }
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAreArray(lines)) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Instances, MpichHello, ::testing::Values(1, 2, 4));

TEST(Mpich, StartsAlonePerInstanceWithoutItsVariables) {
  PoprunSetup setup = job(2, {MPICH_CHILD_PATH, "hello"});
  setup.options.insert(setup.options.begin(), {"--env-for", "openmp"});
  const Outcome outcome = run(setup, kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), SizeIs(2));
  EXPECT_THAT(linesOf(outcome.out), Each(std::string("rank 0 of 1, 1 on this host, sum 0")));
}

TEST(Mpich, NumbersTheProgramsOfAJob) {
  const Outcome outcome = run(
      job(1, {MPICH_CHILD_PATH, "program", ":", "-np", "2", MPICH_CHILD_PATH, "program"}), kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out),
              UnorderedElementsAreArray(
                  {"rank 0 is of program 0", "rank 1 is of program 1", "rank 2 is of program 1"}));
}

TEST(Mpich, EndsTheJobByMpiAbort) {
  const Outcome outcome = run(job(3, {MPICH_CHILD_PATH, "abort"}), kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, HasSubstr("instance 2"));
  EXPECT_THAT(outcome.err, HasSubstr("asked to end the job: called MPI_Abort(7)"));
}

// MPICH itself refuses where its transport cannot do it; no rank may wait.
TEST(Mpich, SpawnsNothing) {
  const Outcome outcome = run(job(2, {MPICH_CHILD_PATH, "spawn"}), kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), SizeIs(2));
  EXPECT_THAT(linesOf(outcome.out), Each(std::string("not spawned")));
}

TEST(Mpich, DoesNotWaitForAnInstanceThatHasEnded) {
  for (const char* task : {"without-1", "unfinished"}) {
    const Outcome outcome = run(job(2, {MPICH_CHILD_PATH, task}), kSpinningTimeout);
    EXPECT_EQ(outcome.exit_code, 1) << task;
    EXPECT_THAT(outcome.err, HasSubstr("waits in MPI_Init or MPI_Finalize for instance 1, which has ended"))
        << task;
  }
}

TEST(Mpich, LeavesProgramsWithoutMpiAlone) {
  const Outcome outcome = run(job(2, {"bash", "-c", "exec 20>&-; exit 0"}));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, Not(HasSubstr("PMI")));
}

TEST(Mpich, TellsOfGarbageOnItsDescriptor) {
  const Outcome outcome = run(job(2, {"bash", "-c", "echo hello >&20; read answer <&20; exit 0"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("instance 1 sent 'hello', which is not PMI-1"));
}

}  // namespace
}  // namespace pop::testing
