// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/forwarded_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::vector<contract::Variable> kHere{{"HOME", "/home/user"},
                                            {"PATH", "/bin"},
                                            {"LD_LIBRARY_PATH", ""},
                                            {"OMP_NUM_THREADS", "3"},
                                            {"PYTHONPATH", "/lib"},
                                            {"POPLAR_TARGET_OPTIONS", "{}"},
                                            {"IPUOF_LOG_LEVEL", "TRACE"},
                                            {"POPDIST_BACKEND", "grpc"},
                                            {"POPDIST_NUM_INSTANCES", "7"},
                                            {"POPDIST_TCP_CONGESTION", "bbr"},
                                            {"RANK", "3"},
                                            {"TF_CONFIG", "{}"},
                                            {"MASTER_PORT", "1"},
                                            {"IPUOF_VIPU_API_PARTITION_ID", "p"},
                                            {"POPDIST_AGENT_SOCKET", "s"},
                                            {"SSH_AUTH_SOCK", "/tmp/a"},
                                            {"TERM", "xterm"},
                                            {"XDG_RUNTIME_DIR", "/run/user/1"},
                                            {"USER", "user"},
                                            {"NCCL_DEBUG", "INFO"},
                                            {"_", "/usr/bin/poprun"},
                                            {"MODULEPATH", "/sw"}};

TEST(ForwardedEnvironment, IsPopRunsChoiceWhatWeWouldSetOurselvesAndLibpopdistsSettings) {
  EXPECT_THAT(forwardedEnvironment(kHere, false),
              ElementsAre(Pair("IPUOF_LOG_LEVEL", "TRACE"), Pair("LD_LIBRARY_PATH", ""),
                          Pair("OMP_NUM_THREADS", "3"), Pair("PATH", "/bin"), Pair("POPDIST_BACKEND", "grpc"),
                          Pair("POPDIST_TCP_CONGESTION", "bbr"), Pair("POPLAR_TARGET_OPTIONS", "{}"),
                          Pair("PYTHONPATH", "/lib")));
}

TEST(ForwardedEnvironment, IsAllThatHasAMeaningElsewhereWhereAsked) {
  EXPECT_THAT(
      forwardedEnvironment(kHere, true),
      ElementsAre(Pair("IPUOF_LOG_LEVEL", "TRACE"), Pair("LD_LIBRARY_PATH", ""), Pair("MODULEPATH", "/sw"),
                  Pair("NCCL_DEBUG", "INFO"), Pair("OMP_NUM_THREADS", "3"), Pair("PATH", "/bin"),
                  Pair("POPDIST_BACKEND", "grpc"), Pair("POPDIST_TCP_CONGESTION", "bbr"),
                  Pair("POPLAR_TARGET_OPTIONS", "{}"), Pair("PYTHONPATH", "/lib")));
}

TEST(ForwardedEnvironment, LeavesOutWhatIsNotThere) {
  EXPECT_THAT(forwardedEnvironment({}, true), IsEmpty());
}

}  // namespace
}  // namespace pop
