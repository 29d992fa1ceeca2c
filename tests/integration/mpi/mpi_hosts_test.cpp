// SPDX-License-Identifier: Apache-2.0
// The tests over two hosts that are the same for every MPI: built for each of them.
#include "tests/integration/mpi/mpi_on_hosts.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST_F(MpiOnHosts, IsOneWorld) {
  const Outcome outcome = runOn("2", "hello");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("rank 0 of 2, 1 on this host, sum 1",
                                                         "rank 1 of 2, 1 on this host, sum 1"));
  EXPECT_EQ(leftOnHosts(), "");
}

// MPICH before 4.2 may hang in MPI_Finalize here, also under its own launcher.
TEST_F(MpiOnHosts, KnowsWhoSharesAHost) {
  const Outcome outcome = runOn("4", "hello-without-finalize");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(
      linesOf(outcome.out),
      UnorderedElementsAre("rank 0 of 4, 2 on this host, sum 6", "rank 1 of 4, 2 on this host, sum 6",
                           "rank 2 of 4, 2 on this host, sum 6", "rank 3 of 4, 2 on this host, sum 6"))
      << outcome.err;
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(MpiOnHosts, EndsTheJobByMpiAbort) {
  const Outcome outcome = runOn("2", "abort");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, HasSubstr("asked to end the job: called MPI_Abort(7)"));
  EXPECT_THAT(outcome.err, HasSubstr("h1"));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(MpiOnHosts, DoesNotWaitForAnInstanceOfAnotherHostThatHasEnded) {
  const Outcome outcome = runOn("2", "without-1");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("waits in MPI_Init or MPI_Finalize for instance 1, which has ended"));
  EXPECT_EQ(leftOnHosts(), "");
}

}  // namespace
}  // namespace pop::testing
