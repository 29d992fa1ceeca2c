// SPDX-License-Identifier: Apache-2.0
// Programs linked with MPICH, over two hosts.
#include "tests/integration/hosts/hosts_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// MPICH spins where it waits, also when there are more ranks than cores.
constexpr Milliseconds kSpinningTimeout{120'000};

class MpichOnHosts : public HostsTest {
 protected:
  MpichOnHosts() : HostsTest(2) {}

  Outcome runOn(const std::string& instances, const std::string& task) const {
    return run(job({"-np", instances, "--tag-output", "no", MPICH_CHILD_PATH, task}), kSpinningTimeout);
  }
};

TEST_F(MpichOnHosts, IsOneWorld) {
  const Outcome outcome = runOn("2", "hello");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("rank 0 of 2, 1 on this host, sum 1",
                                                         "rank 1 of 2, 1 on this host, sum 1"));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(MpichOnHosts, KnowsWhoSharesAHost) {
  const Outcome outcome = runOn("4", "hello-without-finalize");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(
      linesOf(outcome.out),
      UnorderedElementsAre("rank 0 of 4, 2 on this host, sum 6", "rank 1 of 4, 2 on this host, sum 6",
                           "rank 2 of 4, 2 on this host, sum 6", "rank 3 of 4, 2 on this host, sum 6"))
      << outcome.err;
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(MpichOnHosts, EndsTheJobByMpiAbort) {
  const Outcome outcome = runOn("2", "abort");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, HasSubstr("asked to end the job: called MPI_Abort(7)"));
  EXPECT_THAT(outcome.err, HasSubstr("h1"));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(MpichOnHosts, DoesNotWaitForAnInstanceOfAnotherHostThatHasEnded) {
  const Outcome outcome = runOn("2", "without-1");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("waits in MPI_Init or MPI_Finalize for instance 1, which has ended"));
  EXPECT_EQ(leftOnHosts(), "");
}

}  // namespace
}  // namespace pop::testing
