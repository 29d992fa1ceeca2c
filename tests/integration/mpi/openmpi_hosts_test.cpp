// SPDX-License-Identifier: Apache-2.0
// Programs linked with Open MPI, over two hosts.
#include "tests/integration/hosts/hosts_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr Milliseconds kSpinningTimeout{120'000};

class OpenMpiOnHosts : public HostsTest {
 protected:
  OpenMpiOnHosts() : HostsTest(2) {}

  Outcome runOn(const std::string& instances, const std::string& task) const {
    return run(job({"-np", instances, "--tag-output", "no", OPENMPI_CHILD_PATH, task}), kSpinningTimeout);
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
                                   "--tag-output", "no", OPENMPI_CHILD_PATH, "hello"}),
                              kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("rank 3 of 4, 2 on this host, sum 6"));
}

// With networks to leave out beside those to use, Open MPI would use none.
TEST_F(OpenMpiOnHosts, IsOneWorldWithoutTheNetworksThatTheUserLeavesOut) {
  const Outcome outcome = run(job({"-np", "2", "--tag-output", "no", "-x", "OMPI_MCA_btl_tcp_if_exclude=lo",
                                   OPENMPI_CHILD_PATH, "hello"}),
                              kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("rank 1 of 2, 1 on this host, sum 1"));
}

TEST_F(OpenMpiOnHosts, MayStartSeveralTimesInAnInstance) {
  const Outcome outcome =
      run(job({"-np", "4", "--tag-output", "no", "sh", "-c",
               OPENMPI_CHILD_PATH " hello && " OPENMPI_CHILD_PATH " hello && " OPENMPI_CHILD_PATH " hello"}),
          kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(linesOf(outcome.out).size(), 12U);
}

TEST_F(OpenMpiOnHosts, EndsTheJobByMpiAbort) {
  const Outcome outcome = runOn("2", "abort");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, HasSubstr("called MPI_Abort(7)"));
  EXPECT_THAT(outcome.err, HasSubstr("h1"));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(OpenMpiOnHosts, DoesNotWaitForAnInstanceOfAnotherHostThatHasEnded) {
  const Outcome outcome = runOn("2", "without-1");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("waits in MPI_Init or MPI_Finalize for instance 1, which has ended"));
  EXPECT_EQ(leftOnHosts(), "");
}

}  // namespace
}  // namespace pop::testing
