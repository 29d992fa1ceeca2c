// SPDX-License-Identifier: Apache-2.0
// Processes that may connect to the agent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/base/text.h"
#include "tests/integration_popdist/reported_error.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

TEST(Connect, IsRefusedToASecondProcessOfAnInstance) {
  const Outcome outcome = run(childSetup(2, {"second-process"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const std::map<int, ReportedError> errors = reportedErrors(outcome.out);
  ASSERT_EQ(errors.size(), 2U) << outcome.out;
  for (const auto& [instance, error] : errors) {
    EXPECT_EQ(error.code, kAlreadyExistsCode);
    EXPECT_THAT(error.what, HasSubstr("instance " + std::to_string(instance) + " is connected already"));
  }
}

TEST(Connect, IsOfNoUseToAForkedChild) {
  const Outcome outcome = run(childSetup(2, {"forked-child"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST(Connect, OfAllInstancesAndNothingElseIsAFineProgram) {
  const Outcome outcome = run(childSetup(4, {"connect"}));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "");
}

// It would be garbage or a wait without end later.
TEST(Connect, IsRefusedToInstancesThatAreToldDifferentWays) {
  for (const std::string other :
       {"POPDIST_SHARED_ALGORITHM=eager", "POPDIST_SHARED_ALGORITHM=messages", "POPDIST_TRANSPORT=tcp",
        "POPDIST_TCP_STREAMS=3", "POPDIST_MESSAGE_ALGORITHM=ring"}) {
    PoprunSetup setup = childSetup(2, {});
    setup.options.pop_back();
    for (const std::string word :
         {"sh", "-c", "[ $POPDIST_INSTANCE_INDEX = 0 ] || export $1; exec \"$0\" connect", POPDIST_CHILD_PATH,
          other.c_str()})
      setup.options.push_back(word);
    const Outcome outcome = run(setup);
    EXPECT_EQ(outcome.exit_code, kFailedPreconditionCode) << outcome.err;
    const std::map<int, ReportedError> errors = reportedErrors(outcome.out);
    ASSERT_FALSE(errors.empty()) << outcome.out;
    for (const auto& [instance, error] : errors) EXPECT_THAT(error.what, HasSubstr(", " + other)) << instance;
  }
}

// SGE's h_vmem and many machines of CI set this limit.
TEST(Connect, FitsTheLimitOfTheAddressSpace) {
  for (const std::string limit : {"60000000", "4000000"}) {
    const std::string limited = "ulimit -v " + limit + " && exec \"$@\"";
    for (const int instances : {1, 2}) {
      PoprunSetup setup = childSetup(instances, {});
      setup.options.pop_back();
      for (const char* const word : {"sh", "-c", limited.c_str(), "sh", POPDIST_CHILD_PATH, "collectives"})
        setup.options.emplace_back(word);
      const Outcome outcome = run(setup);
      EXPECT_EQ(outcome.exit_code, 0) << limit << outcome.out << outcome.err;
    }
    PoprunSetup alone;
    alone.program = "/bin/sh";
    alone.options = {"-c", limited, "sh", POPDIST_CHILD_PATH, "collectives"};
    EXPECT_EQ(run(alone).exit_code, 0) << limit;
  }
}

// setpriv, sudo or su within the job make such an instance.
TEST(Connect, IsRefusedToInstancesOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  PoprunSetup setup = childSetup(1, {"connect"});
  setup.options.insert(setup.options.end() - 2, {"setpriv", "--reuid", "nobody", "--clear-groups"});
  const Outcome outcome = run(setup);
  const std::map<int, ReportedError> errors = reportedErrors(outcome.out);
  ASSERT_EQ(errors.size(), 1U) << outcome.out << outcome.err;
  EXPECT_EQ(errors.at(0).code, kPermissionDeniedCode);
  EXPECT_THAT(errors.at(0).what, HasSubstr("as user nobody (65534), and poprun's agent as root (0)"));
  EXPECT_THAT(outcome.err, HasSubstr("of user nobody (65534)"));
}

// Not run(): others leave zombies behind.
Outcome runOther(const PoprunSetup& setup) {
  PoprunProcess process(setup);
  const int exit_code = process.wait();
  EXPECT_TRUE(process.goneWithin(kTimeout));
  return {exit_code, process.out(), process.err()};
}

TEST(Connect, IsRefusedToRanksThatAnotherLauncherStarts) {
  for (const std::string& path : split(FOREIGN_LAUNCHERS, ',')) {
    PoprunSetup setup;
    setup.program = path;
    setup.options = {"-np", "2", POPDIST_CHILD_PATH, "connect"};
    setup.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                         {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                         {"OMPI_MCA_rmaps_base_oversubscribe", "1"}};
    const Outcome two = runOther(setup);
    EXPECT_NE(two.exit_code, 0) << path;
    EXPECT_THAT(two.out, HasSubstr("error " + std::to_string(kFailedPreconditionCode))) << path << two.err;
    EXPECT_THAT(two.out, HasSubstr(" of 2 (")) << path;
    setup.options[1] = "1";
    EXPECT_EQ(runOther(setup).exit_code, 0) << path;
  }
}

}  // namespace
}  // namespace pop::testing
