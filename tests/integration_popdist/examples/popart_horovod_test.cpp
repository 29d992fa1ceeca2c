// SPDX-License-Identifier: Apache-2.0
// PopART's program, by the names under which it is started.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

/// The weights in the output of ranks, as often as they print them.
std::multiset<std::string> weightsIn(const std::string& out) {
  std::multiset<std::string> all;
  for (const std::string& line : linesOf(out)) {
    const std::size_t at = line.find("weights ");
    if (at != std::string::npos) all.insert(line.substr(at));
  }
  return all;
}

Outcome horovodrun(std::vector<std::string> options) {
  options.emplace_back(POPART_HOROVOD_PATH);
  return run({.options = options, .program = POP_BIN_DIR "/names/horovodrun"});
}

TEST(PopartHorovodExample, GivesAllRanksTheSameWeights) {
  const Outcome outcome = horovodrun({"-np", "2", "-H", "localhost:2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto weights = weightsIn(outcome.out);
  EXPECT_EQ(weights.size(), 2U) << outcome.out;
  EXPECT_EQ(weights.count(weights.empty() ? "" : *weights.begin()), 2U) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("rank 1 of 2, step 10: mean loss "));
  EXPECT_THAT(outcome.out, HasSubstr("output [32, 1, 10]")) << "the batch of 1 is the tensor's own";

  const Outcome gloo = horovodrun({"--gloo", "-np", "2", "-H", "localhost:2"});
  EXPECT_EQ(weightsIn(gloo.out), weights) << gloo.err;
}

TEST(PopartHorovodExample, HasADimensionOfReplicasIfThereAreSeveral) {
  const Outcome outcome =
      run({.options = {"--num-instances", "2", "--num-replicas", "4", POPART_HOROVOD_PATH}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("output [32, 2, 1, 10]"));
  const auto weights = weightsIn(outcome.out);
  EXPECT_EQ(weights.count(weights.empty() ? "" : *weights.begin()), 2U) << outcome.out;
}

}  // namespace
}  // namespace pop::testing
