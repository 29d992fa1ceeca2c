// SPDX-License-Identifier: Apache-2.0
// The example: trains to the same weights however its replicas are split over instances and whatever its
// schedule, goes on from a checkpoint, writes, and names what is wrong.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/data/idx_files.h"

namespace pop::testing {
namespace {

using popdist::io::testing::Bytes;
using popdist::io::testing::readAll;

class CharTransformerExample : public ::testing::Test {
 protected:
  // Tiny: a run takes a fraction of a second.
  Outcome train(int instances, const std::vector<std::string>& options) {
    PoprunSetup setup{.options = {"--num-instances",
                                  std::to_string(instances),
                                  "--num-replicas",
                                  "2",
                                  "--ipus-per-replica",
                                  "4",
                                  CHAR_TRANSFORMER_PATH,
                                  "--width",
                                  "16",
                                  "--context",
                                  "16",
                                  "--micro-batch",
                                  "2",
                                  "--updates",
                                  "4",
                                  "--report",
                                  "2",
                                  "--warmup",
                                  "1",
                                  "--sample",
                                  "8"}};
    setup.options.insert(setup.options.end(), options.begin(), options.end());
    PoprunProcess poprun(setup);
    const int exit_code = poprun.wait(Milliseconds(60'000));
    return {exit_code, poprun.out(), poprun.err()};
  }

  Bytes modelOf(int instances, std::vector<std::string> options) {
    const std::filesystem::path model = directory_ / "model";
    options.insert(options.end(), {"--output-model", model.string()});
    const Outcome outcome = train(instances, options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("update 4/4: "), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("The "), std::string::npos) << "no sample: " << outcome.out;
    return readAll(model);
  }

  const TempDir directory_;
};

TEST_F(CharTransformerExample, TrainsToTheSameBytesOnOneAndTwoInstances) {
  const Bytes expected = modelOf(1, {});
  EXPECT_GT(expected.size(), 4U * 12 * 16 * 16 * sizeof(float));
  EXPECT_TRUE(modelOf(2, {"--schedule", "sequential", "--recompute-mode", "segments"}) == expected);
}

TEST_F(CharTransformerExample, GoesOnFromItsCheckpointToTheSameBytes) {
  const std::vector<std::string> options{"--checkpoints", (directory_ / "saved").string()};
  const Bytes whole = modelOf(2, options);
  std::filesystem::remove_all(directory_ / "saved" / "step-000004");
  EXPECT_TRUE(modelOf(1, options) == whole);
}

struct Mistake {
  std::vector<std::string> arguments;
  int exit_code;
  std::string message;
};

TEST_F(CharTransformerExample, NamesWhatIsWrong) {
  const std::string text = (directory_ / "text").string();
  std::ofstream(text) << "to be or not to be";
  const Mistake mistakes[] = {
      {{"--text", "/nonexistent"}, 1, "cannot read /nonexistent: No such file or directory"},
      {{"--text", text}, 1, text + " is too short: it has 18 characters"},
      {{"--width", "30"}, 2, "--width: 30 is not a multiple of --heads 4"},
      {{"--blocks", "3"}, 2, "--blocks: 3 are fewer than the 4 stages"},
      {{"--schedule", "zigzag"}, 2, "--schedule: 'zigzag' is not grouped, interleaved or sequential"},
      {{"--accumulation", "9"}, 1, "the Grouped schedule of 4 stages needs a multiple of 8: take 16 or 24"},
      {{"--tied", "--schedule", "interleaved"}, 1, "takes one stage on an IPU"},
      {{"--temperature", "-1"}, 2, "--temperature: '-1' is not a number from 0 to 100"},
      {{"foo"}, 2, "unexpected argument 'foo'"},
  };
  for (const Mistake& mistake : mistakes) {
    const Outcome outcome = train(1, mistake.arguments);
    EXPECT_EQ(outcome.exit_code, mistake.exit_code) << outcome.err;
    EXPECT_NE(outcome.err.find(mistake.message), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace pop::testing
