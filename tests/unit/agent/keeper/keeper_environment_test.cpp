// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace pop::keeper {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Not;

std::vector<std::string> textsOf(const std::vector<char*>& environment) {
  EXPECT_EQ(environment.back(), nullptr) << "execve looks for its end";
  return {environment.begin(), environment.end() - 1};
}

class KeeperEnvironment : public ::testing::Test {
 protected:
  KeeperEnvironment() { ::setenv("POP_TEST_INHERITED", "from outside", 1); }
  ~KeeperEnvironment() override { ::unsetenv("POP_TEST_INHERITED"); }
};

TEST_F(KeeperEnvironment, InheritsWhatItDoesNotReplace) {
  const Environment base({"A=1"});
  EXPECT_THAT(textsOf(base.with({})), AllOf(Contains("POP_TEST_INHERITED=from outside"), Contains("A=1")));
}

TEST_F(KeeperEnvironment, HasEachNameOnceWithTheLastWord) {
  const Environment base({"POP_TEST_INHERITED=mine", "A=1", "A=2"});
  const std::vector<std::string> variables{"A=3", "B=4"};
  const std::vector<std::string> all = textsOf(base.with(variables));
  EXPECT_THAT(all,
              AllOf(Contains("POP_TEST_INHERITED=mine").Times(1), Contains("A=3").Times(1), Contains("B=4")));
  EXPECT_THAT(all, AllOf(Not(Contains("A=1")), Not(Contains("A=2")),
                         Not(Contains("POP_TEST_INHERITED=from outside"))));
}

TEST_F(KeeperEnvironment, IsNotChangedByWhatOneProcessGets) {
  const Environment base({"A=1"});
  const std::vector<std::string> variables{"A=2"};
  EXPECT_THAT(textsOf(base.with(variables)), Contains("A=2"));
  EXPECT_THAT(textsOf(base.with({})), Contains("A=1"));
}

TEST_F(KeeperEnvironment, TellsAValueByItsWholeName) {
  const Environment base({"PATHS=no", "EMPTY=", "PATH=/bin"});
  const std::vector<char*> all = base.with({});
  EXPECT_EQ(valueIn(all, "PATH"), "/bin");
  EXPECT_EQ(valueIn(all, "EMPTY"), "");
  EXPECT_EQ(valueIn(all, "PATHS_OF"), "");
}

}  // namespace
}  // namespace pop::keeper
