// SPDX-License-Identifier: Apache-2.0
// Programs whose instances may start as worlds of their own, and poprun's word about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPrograms = POP_BIN_DIR "/../tests/mpi_programs";

std::string said(const std::vector<std::string>& options) {
  const Outcome outcome = run({.options = options});
  EXPECT_EQ(outcome.exit_code, 0);
  return outcome.err;
}

TEST(MpiWarning, ComesOnceForAnUnknownMpi) {
  const std::string program = std::string(kPrograms) + "/with_other_mpi";
  EXPECT_EQ(said({"-n", "3", program}),
            "poprun: warning: '" + program +
                "' links libmpi_other.so.1, an MPI library that poprun does not know: it may start every "
                "instance as a world of its own\n");
  EXPECT_EQ(said({"-n", "1", program}), "") << "one instance is a world anyway";
}

TEST(MpiWarning, ComesIfTheVariablesOfTheMpiAreLeftOut) {
  const std::string openmpi = std::string(kPrograms) + "/with_openmpi";
  EXPECT_EQ(said({"-n", "2", openmpi}), "");
  EXPECT_EQ(said({"-n", "2", "--env-for", "pmix", openmpi}), "");
  EXPECT_THAT(said({"-n", "2", "--env-for", "pmi,pytorch", openmpi}),
              HasSubstr("links libmpi.so.40, an MPI library that finds its world by what --env-for leaves "
                        "out: without pmix"));
  const std::string mpich = std::string(kPrograms) + "/with_mpich";
  EXPECT_EQ(said({"-n", "2", mpich}), "");
  EXPECT_THAT(said({"-n", "2", "--env-for", "none", mpich}), HasSubstr("links libmpich.so.12"));
}

TEST(MpiWarning, FindsTheProgramAsAnInstanceDoes) {
  const std::string warning = "'with_other_mpi' links libmpi_other.so.1";
  const std::string path = std::string("PATH=/usr/bin:") + kPrograms;
  EXPECT_THAT(said({"-n", "2", "-x", path, "with_other_mpi"}), HasSubstr(warning));
  EXPECT_THAT(said({"-n", "2", "-x", "PATH=.", "--wdir", kPrograms, "with_other_mpi"}), HasSubstr(warning));
  EXPECT_THAT(said({"-n", "2", "--wdir", kPrograms, "./with_other_mpi"}),
              HasSubstr("'./with_other_mpi' links"));
  EXPECT_THAT(said({"-n", "1", "true", ":", "-n", "1", "-x", path, "with_other_mpi"}), HasSubstr(warning));
  EXPECT_EQ(said({"-n", "2", "true"}), "");
}

}  // namespace
}  // namespace pop::testing
