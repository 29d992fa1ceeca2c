// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/forwarded_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(ForwardedEnvironment, IsPopRunsChoiceAndWhatWeWouldSetOurselves) {
  const std::map<std::string, std::string> here{{"HOME", "/home/user"},  {"IPUOF_LOG_LEVEL", "TRACE"},
                                                {"LD_LIBRARY_PATH", ""}, {"OMP_NUM_THREADS", "3"},
                                                {"PATH", "/bin"},        {"POPLAR_TARGET_OPTIONS", "{}"},
                                                {"PYTHONPATH", "/lib"}};
  EXPECT_THAT(forwardedEnvironment([&here](const char* name) -> const char* {
                const auto found = here.find(name);
                return found == here.end() ? nullptr : found->second.c_str();
              }),
              ElementsAre(Pair("PATH", "/bin"), Pair("LD_LIBRARY_PATH", ""), Pair("PYTHONPATH", "/lib"),
                          Pair("IPUOF_LOG_LEVEL", "TRACE"), Pair("POPLAR_TARGET_OPTIONS", "{}"),
                          Pair("OMP_NUM_THREADS", "3")));
}

TEST(ForwardedEnvironment, LeavesOutWhatIsNotThere) {
  EXPECT_TRUE(forwardedEnvironment([](const char*) -> const char* { return nullptr; }).empty());
}

}  // namespace
}  // namespace pop
