// SPDX-License-Identifier: Apache-2.0
// Who may connect to the agent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
