// SPDX-License-Identifier: Apache-2.0
// Debian's MPICH and Open MPI under poprun: programs that are linked with MPI, and start without mpirun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

class Mpi : public ::testing::TestWithParam<const char*> {};

TEST_P(Mpi, StartsAsOneWorldWithoutMpirun) {
  const std::string name = GetParam();
  const Outcome outcome = run({.options = {"--num-instances", "2", "--tag-output", "no", POP_SYSTEM_PYTHON3,
                                           POP_SOURCE_DIR "/tests/frameworks/mpi_world.py", name}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), SizeIs(2));
  EXPECT_THAT(linesOf(outcome.out), Each(name + ": a world of 2"));
}

INSTANTIATE_TEST_SUITE_P(Of, Mpi, ::testing::Values("mpich", "openmpi"),
                         [](const auto& each) { return std::string(each.param); });

class Mpi4py : public ::testing::TestWithParam<int> {};

TEST_P(Mpi4py, CallsGiveRightResults) {
  const std::string ranks = std::to_string(GetParam());
  const Outcome outcome =
      run({.options = {"--num-instances", ranks, "--tag-output", "no", "-x", "OMPI_MCA_mpi_yield_when_idle=1",
                       POP_SYSTEM_PYTHON3, POP_SOURCE_DIR "/tests/frameworks/mpi4py_calls.py"}},
          Milliseconds(60000));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::HasSubstr("checks with " + ranks + " ranks"));
}

INSTANTIATE_TEST_SUITE_P(Ranks, Mpi4py, ::testing::Values(1, 2, 4));

}  // namespace
}  // namespace pop::testing
