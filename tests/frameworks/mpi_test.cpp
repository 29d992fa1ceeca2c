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

}  // namespace
}  // namespace pop::testing
