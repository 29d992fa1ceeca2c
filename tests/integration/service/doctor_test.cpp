// SPDX-License-Identifier: Apache-2.0
// poprun doctor by way of the agent service: what it says of hosts and of their services.
#include "common/contract/version.h"
#include "tests/integration/service/service_fixture.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class DoctorByService : public ServiceTest {
 protected:
  Outcome examine(const std::string& user, const std::vector<std::string>& options = {}) const {
    PoprunSetup setup = jobOf(user, options);
    setup.options.insert(setup.options.begin(), "doctor");
    return run(setup);
  }
};

TEST_F(DoctorByService, SaysWhatEachServiceRunsAndAllows) {
  writeUsers(0, "alice = nobody jobs=4\neve = root\nlimits instances=100\n");
  serveAll();
  PoprunProcess poprun(jobOf("alice", {"-n", "6"}, {"wait"}));
  ASSERT_EQ(poprun.waitReady(6).size(), 6U) << poprun.err();
  const Outcome outcome = examine("alice");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(said(outcome.err), "");
  const std::vector<std::string> lines = linesOf(outcome.out);
  ASSERT_EQ(lines.size(), 2U) << outcome.out;
  EXPECT_THAT(lines[0],
              MatchesRegex(hosts.address(0) + ": fine: popdist-agent " + contract::kVersion +
                           " .*, address " + hosts.address(0) +
                           ", .* CPUs? in .* memory nodes?, by its service as nobody, where you run 1 of 4 "
                           "jobs with 3 instances, and all together 1 job with 3 of 100 instances"));
  EXPECT_THAT(lines[1], HasSubstr("where you run 1 job with 3 instances, and all together 1 job with 3"));
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
  EXPECT_EQ(leftOfJobs(), "");
}

TEST_F(DoctorByService, SaysOfEachHostWhyItCannotBeUsed) {
  writeUsers(1, "eve = nobody\n");
  serve(1);
  const Outcome outcome = examine("alice");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(hosts.address(0) + ": cannot be used: "),
                                 HasSubstr("connection refused: does popdist-agent serve run there"),
                                 HasSubstr(hosts.address(1) + ": cannot be used: "),
                                 HasSubstr("'alice' is not in the users file of this host's agent"),
                                 HasSubstr("0 of 2 hosts are fine")));
}

TEST_F(DoctorByService, NamesAHostThatDoesNotAnswer) {
  serveAll();
  hosts.linkDown(1);
  const Outcome outcome = examine("alice", {"--connect-timeout", "4"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(hosts.address(0) + ": fine: "),
                                 HasSubstr(hosts.address(1) + ": cannot be used: "),
                                 HasSubstr("no answer within 4 s (--connect-timeout)")));
  EXPECT_EQ(leftOfJobs(), "");
}

// The job is refused, and so is its examination: that is what would happen.
TEST_F(DoctorByService, SaysThatALimitLeavesNoRoom) {
  for (int host = 0; host < 2; ++host) writeUsers(host, "alice = nobody instances=2\n");
  serveAll();
  const Outcome outcome = examine("alice", {"-n", "6"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("'alice' may have 2 instances at once on this host"));
}

}  // namespace
}  // namespace pop::testing
