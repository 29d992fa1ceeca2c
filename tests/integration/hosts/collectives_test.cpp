// SPDX-License-Identifier: Apache-2.0
// Communicators over several hosts: their collectives, and what survivors are told of a death elsewhere.
#include <algorithm>
#include <chrono>

#include "tests/integration/hosts/hosts_fixture.h"
#include "tests/integration_popdist/reported_error.h"

namespace pop::testing {
namespace {

using std::chrono::steady_clock;
using ::testing::HasSubstr;

class CollectivesOverHosts : public HostsTest {
 protected:
  CollectivesOverHosts() : HostsTest(2) {}

  PoprunSetup program(std::vector<std::string> options, const std::vector<std::string>& command) const {
    options.insert(options.begin(), {"--tag-output", "yes"});
    options.push_back(POPDIST_CHILD_PATH);
    options.insert(options.end(), command.begin(), command.end());
    return job(std::move(options));
  }

  // Kills an instance of the second host when all are ready. The others hear of it from the agents, on a
  // long way.
  void killAndExpectErrors(int instances, int victim, const std::string& count) {
    PoprunProcess poprun(program({"-n", std::to_string(instances)}, {"sum-forever", count}));
    const std::vector<pid_t> pids = poprun.waitReady(instances);
    ASSERT_EQ(static_cast<int>(pids.size()), instances) << poprun.err();
    const std::string pid = std::to_string(pids[static_cast<std::size_t>(victim)]);
    const auto before = steady_clock::now();
    ASSERT_EQ(hosts.run(1, "kill -9 " + pid).exit_code, 0);
    EXPECT_EQ(poprun.wait(), 137) << poprun.err();

    const std::map<int, ReportedError> errors = reportedErrors(poprun.out());
    EXPECT_EQ(static_cast<int>(errors.size()), instances - 1) << poprun.out();
    for (const auto& [instance, error] : errors) {
      EXPECT_EQ(error.code, kUnavailableCode) << "instance " << instance << ": " << error.what;
      EXPECT_EQ(error.peer, victim) << "instance " << instance << ": " << error.what;
      EXPECT_THAT(error.what, HasSubstr("instance " + std::to_string(victim) + " (pid " + pid +
                                        " on h1) was killed by SIGKILL"));
      EXPECT_LT(error.at - before, std::chrono::seconds(10)) << "instance " << instance;
    }
    EXPECT_EQ(leftOnHosts(), "");
  }
};

TEST_F(CollectivesOverHosts, GiveRightResults) {
  for (const char* const instances : {"2", "4", "6"}) {
    const Outcome outcome = run(program({"-n", instances}, {"collectives"}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  }
  EXPECT_EQ(leftOnHosts(), "");
}

// The hosts reach each other by IPv6 alone; poprun's connections stay as they are.
TEST_F(CollectivesOverHosts, GoOverTheNetworkThatIsAskedFor) {
  for (int host = 0; host < hosts.count(); ++host) {
    for (int other = 0; other < hosts.count(); ++other) {
      if (other == host) continue;
      const TestHosts::Output cut =
          hosts.run(host, "ip route add unreachable " + hosts.address(other) + "/32");
      ASSERT_EQ(cut.exit_code, 0) << cut.text;
    }
  }
  const Outcome outcome =
      run(program({"-n", "4", "--host-subnet", hosts.address6(0) + "/64", "-x", "POPDIST_TCP_STREAMS=2"},
                  {"collectives"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST_F(CollectivesOverHosts, TellAllOthersWhoWasKilled) {
  killAndExpectErrors(2, 1, "1");
  killAndExpectErrors(4, 2, "1000000");
  killAndExpectErrors(4, 3, "1000");
}

TEST_F(CollectivesOverHosts, TellAllOthersWhoHasLeft) {
  const Outcome outcome = run(program({"-n", "2"}, {"leave", "1"}));
  EXPECT_NE(outcome.exit_code, 0);
  const std::map<int, ReportedError> errors = reportedErrors(outcome.out);
  ASSERT_TRUE(errors.contains(0)) << outcome.out << outcome.err;
  EXPECT_EQ(errors.at(0).peer, 1);
  EXPECT_THAT(errors.at(0).what, HasSubstr("exited with code 0 without taking part"));
  EXPECT_THAT(outcome.err,
              ::testing::ContainsRegex("poprun: instance 1 of .* exited with code 0 although instance 0 "
                                       ".*on h0. needed it, which exited with code 14"));
}

}  // namespace
}  // namespace pop::testing
