// SPDX-License-Identifier: Apache-2.0
// Programs linked with Open MPI over two hosts: what it has of its own.
#include <csignal>

#include "common/os/helper_run.h"
#include "tests/integration/mpi/mpi_on_hosts.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class OpenMpiOnHosts : public MpiOnHosts {
 protected:
  pid_t processOn(int host, std::string_view name) const {
    for (const pid_t pid : hosts.processesOn(host)) {
      if (const auto stat = statOf(pid); stat && stat->name == name) return pid;
    }
    return -1;
  }

  /// In its /dev/shm, which is its own.
  std::string filesOn(int host) const {
    return os::outputOf(hosts.commandOn(host, {"ls", "/dev/shm"}), kTimeout).value();
  }
};

TEST_F(OpenMpiOnHosts, IsOneWorldThatKnowsWhoSharesAHost) {
  const Outcome outcome = runOn("4", "hello");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(
      linesOf(outcome.out),
      UnorderedElementsAre("rank 0 of 4, 2 on this host, sum 6", "rank 1 of 4, 2 on this host, sum 6",
                           "rank 2 of 4, 2 on this host, sum 6", "rank 3 of 4, 2 on this host, sum 6"))
      << outcome.err;
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(OpenMpiOnHosts, IsOneWorldOfHostsThatAreNamedByTheirAddresses) {
  const Outcome outcome = run(job({"--host", hosts.address(0) + ',' + hosts.address(1), "-np", "4",
                                   "--tag-output", "no", MPI_CHILD_PATH, "hello"}),
                              kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("rank 3 of 4, 2 on this host, sum 6"));
}

// With networks to leave out beside those to use, Open MPI would use none.
TEST_F(OpenMpiOnHosts, IsOneWorldWithoutTheNetworksThatTheUserLeavesOut) {
  const Outcome outcome = run(job({"-np", "2", "--tag-output", "no", "-x", "OMPI_MCA_btl_tcp_if_exclude=lo",
                                   MPI_CHILD_PATH, "hello"}),
                              kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("rank 1 of 2, 1 on this host, sum 1"));
}

TEST_F(OpenMpiOnHosts, MayStartSeveralTimesInAnInstance) {
  const Outcome outcome =
      run(job({"-np", "4", "--tag-output", "no", "sh", "-c",
               MPI_CHILD_PATH " hello && " MPI_CHILD_PATH " hello && " MPI_CHILD_PATH " hello"}),
          kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(linesOf(outcome.out).size(), 12U);
}

TEST_F(OpenMpiOnHosts, LeavesNothingWhenAnAgentIsKilled) {
  for (const char* const name : {"popdist-agent", "pop-keeper", "popdist-pmix"}) {
    sys::Pipe input = sys::makePipe().value();
    PoprunSetup setup = job({"-np", "4", "--tag-output", "no", MPI_CHILD_PATH, "serve"});
    setup.descriptors[0] = input.read_end.get();
    PoprunProcess poprun(setup);
    ASSERT_TRUE(poprun.waitFor([&] { return poprun.out().ends_with('\n'); }, kSpinningTimeout))
        << poprun.err();
    ASSERT_THAT(filesOn(1), HasSubstr("poprun-"));
    const pid_t victim = processOn(1, name);
    ASSERT_GT(victim, 0) << name;
    ::kill(victim, SIGKILL);
    EXPECT_EQ(poprun.wait(kSpinningTimeout), 125) << name << poprun.err();
    EXPECT_EQ(leftOnHosts(), "") << name;
    EXPECT_EQ(filesOn(1), "") << name;
  }
}

}  // namespace
}  // namespace pop::testing
