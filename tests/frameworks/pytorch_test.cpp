// SPDX-License-Identifier: Apache-2.0
// Debian's PyTorch under poprun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using ::testing::UnorderedElementsAre;

Outcome runGloo(std::map<std::string, std::string> environment) {
  return run({.options = {"--num-instances", "3", "--tag-output", "no", POP_SYSTEM_PYTHON3,
                          POP_SOURCE_DIR "/tests/frameworks/all_reduce_gloo.py"},
              .environment = std::move(environment)});
}

void expectAllReduced(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("rank 0 of 3, launched by torchrun's rules: True",
                                                         "rank 1 of 3, launched by torchrun's rules: True",
                                                         "rank 2 of 3, launched by torchrun's rules: True"));
}

TEST(PyTorch, StartsFromTheEnvironmentAlone) {
  expectAllReduced(runGloo({}));
}

TEST(PyTorch, StartsWherePoprunWasItselfStartedByOthers) {
  expectAllReduced(runGloo({{"RANK", "7"},
                            {"WORLD_SIZE", "9"},
                            {"MASTER_PORT", "1"},
                            {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                            {"SLURM_JOB_ID", "12"},
                            {"SLURM_STEP_NODELIST", "node[1-2]"}}));
}

}  // namespace
}  // namespace pop::testing
