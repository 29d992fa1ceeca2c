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
                                            {"MODULEPATH", "/sw"},
                                            {"OMPI_MCA_btl", "self"},
                                            {"OMPI_COMM_WORLD_RANK", "5"}};

TEST(ForwardedEnvironment, IsPopRunsChoiceWhatWeWouldSetOurselvesAndLibpopdistsSettings) {
  EXPECT_THAT(forwardedEnvironment(kHere, false),
              ElementsAre(Pair("IPUOF_LOG_LEVEL", "TRACE"), Pair("LD_LIBRARY_PATH", ""),
                          Pair("OMPI_MCA_btl", "self"), Pair("OMP_NUM_THREADS", "3"), Pair("PATH", "/bin"),
                          Pair("POPDIST_BACKEND", "grpc"), Pair("POPDIST_TCP_CONGESTION", "bbr"),
                          Pair("POPLAR_TARGET_OPTIONS", "{}"), Pair("PYTHONPATH", "/lib")));
}

TEST(ForwardedEnvironment, IsAllThatHasAMeaningElsewhereWhereAsked) {
  EXPECT_THAT(forwardedEnvironment(kHere, true),
              ElementsAre(Pair("IPUOF_LOG_LEVEL", "TRACE"), Pair("LD_LIBRARY_PATH", ""),
                          Pair("MODULEPATH", "/sw"), Pair("NCCL_DEBUG", "INFO"), Pair("OMPI_MCA_btl", "self"),
                          Pair("OMP_NUM_THREADS", "3"), Pair("PATH", "/bin"), Pair("POPDIST_BACKEND", "grpc"),
                          Pair("POPDIST_TCP_CONGESTION", "bbr"), Pair("POPLAR_TARGET_OPTIONS", "{}"),
                          Pair("PYTHONPATH", "/lib")));
}

TEST(ForwardedEnvironment, LeavesToTheUserHowOpenMpiFindsItsWay) {
  EXPECT_THAT(forwardedEnvironment({{"OMPI_MCA_pml", "ucx"},
                                    {"OMPI_MCA_btl_tcp_if_include", "eth1"},
                                    {"OMPI_MCA_schizo", "slurm"},
                                    {"OMPI_MCA_btl_vader_backing_directory", "/of/an/outer/job"},
                                    {"PMIX_RANK", "5"}},
                                   true),
              ElementsAre(Pair("OMPI_MCA_btl_tcp_if_include", "eth1"), Pair("OMPI_MCA_pml", "ucx")));
}

TEST(MatchingEnvironment, IsWhatAPatternNames) {
  EXPECT_THAT(matchingEnvironment(kHere, "NCCL_*"), ElementsAre(Pair("NCCL_DEBUG", "INFO")));
  EXPECT_THAT(matchingEnvironment(kHere, "*PATH"),
              ElementsAre(Pair("LD_LIBRARY_PATH", ""), Pair("MODULEPATH", "/sw"), Pair("PATH", "/bin"),
                          Pair("PYTHONPATH", "/lib")));
  EXPECT_THAT(matchingEnvironment(kHere, "NCCL_DEBU?"), ElementsAre(Pair("NCCL_DEBUG", "INFO")));
  EXPECT_THAT(matchingEnvironment(kHere, "NCCL"), IsEmpty()) << "from its beginning to its end";
}

TEST(MatchingEnvironment, LeavesOutWhatPoprunSetsAndWhatBelongsToThisLogin) {
  EXPECT_THAT(matchingEnvironment(kHere, "OMPI_*"), ElementsAre(Pair("OMPI_MCA_btl", "self")));
  EXPECT_THAT(matchingEnvironment(kHere, "SSH_*"), IsEmpty());
}

TEST(IsPattern, IsANameWithAWildcard) {
  for (const char* name : {"A*", "?"}) EXPECT_TRUE(isPattern(name)) << name;
  for (const char* name : {"A", "A_1", ""}) EXPECT_FALSE(isPattern(name)) << name;
}

TEST(ForwardedEnvironment, LeavesOutWhatIsNotThere) {
  EXPECT_THAT(forwardedEnvironment({}, true), IsEmpty());
}

}  // namespace
}  // namespace pop
