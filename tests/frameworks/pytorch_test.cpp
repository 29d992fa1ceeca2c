// SPDX-License-Identifier: Apache-2.0
// Debian's PyTorch under poprun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

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

// bench/training's peer: trained for the same epoch as the example, it knows as much.
TEST(PyTorch, TrainsAsTheExampleDoes) {
  const Outcome outcome = run({.options = {"--num-instances", "2", "--tag-output", "no", POP_SYSTEM_PYTHON3,
                                           "-B", POP_SOURCE_DIR "/bench/training_speed/ddp.py", "1"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  double accuracy = 0;
  EXPECT_EQ(
      std::sscanf(outcome.out.c_str(), "epoch 1/1: loss %*f, test accuracy %lf %%, %*f samples/s", &accuracy),
      1)
      << outcome.out;
  EXPECT_GE(accuracy, 80);
}

}  // namespace
}  // namespace pop::testing
