// SPDX-License-Identifier: Apache-2.0
// Debian's MPICH and Open MPI under poprun: programs that are linked with MPI, and start without mpirun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

/// Of an MPI library: its name, and the size of the world that its programs start in.
class Mpi : public ::testing::TestWithParam<std::pair<const char*, int>> {};

// Two instances are one world of MPICH's, and one each of Open MPI's, whatever the variables say that its
// launcher sets, too.
TEST_P(Mpi, StartsWithoutMpirun) {
  const auto& [name, size] = GetParam();
  // Open MPI leaves an empty directory behind, which is not poprun's to clear away.
  std::string sessions = ::testing::TempDir() + "mpi-XXXXXX";
  ASSERT_NE(::mkdtemp(sessions.data()), nullptr);
  const Outcome outcome = run({.options = {"--num-instances", "2", "--tag-output", "no", POP_SYSTEM_PYTHON3,
                                           POP_SOURCE_DIR "/tests/frameworks/mpi_world.py", name},
                               .environment = {{"OMPI_MCA_orte_tmpdir_base", sessions}}});
  std::filesystem::remove_all(sessions);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), SizeIs(2));
  EXPECT_THAT(linesOf(outcome.out), Each(std::string(name) + ": a world of " + std::to_string(size)));
}

INSTANTIATE_TEST_SUITE_P(Of, Mpi, ::testing::Values(std::pair("mpich", 2), std::pair("openmpi", 1)),
                         [](const auto& each) { return std::string(each.param.first); });

}  // namespace
}  // namespace pop::testing
