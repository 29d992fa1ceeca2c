// SPDX-License-Identifier: Apache-2.0
// `poprun simulate` where it cannot say a time, or would take too long to find one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "common/base/text.h"
#include "pod/chakra/execution_trace.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

// `poprun simulate` must refuse these options: its message.
std::string refusalOf(std::vector<std::string> options) {
  options.insert(options.begin(), "simulate");
  const Outcome result = run({.options = options});
  EXPECT_EQ(result.exit_code, 125) << join(options, " ");
  EXPECT_EQ(result.out, "") << join(options, " ");
  return result.err;
}

class SimulateLimits : public ::testing::Test {
 protected:
  // Links of a byte a second.
  std::string slowSystem() const {
    const std::string file = directory_ / "slow.system";
    std::ofstream(file)
        << "system slow\nbase pod16\nrate rail 1 B/s\nrate rung 1 B/s\nrate cross-rung 1 B/s\n";
    return file;
  }

  TempDir directory_;
};

TEST_F(SimulateLimits, ACollectiveWhoseTimeCannotBeCounted) {
  const std::string slow = slowSystem();
  EXPECT_EQ(run({.options = {"simulate", "--all-reduce", "1KB", "--system", slow}}).exit_code, 0);
  const std::vector<std::vector<std::string>> requests{
      {"--all-reduce", "10MB"},
      {"--all-reduce", "1000000GB", "--json"},
      {"--all-reduce", "1000000GB", "--algorithm", "gcl", "--trace", directory_ / "trace.json"},
      {"--all-reduce", "1000000GB", "--export-chakra", directory_ / "exported"},
      {"--collective", "broadcast=1000000GB"}};
  for (std::vector<std::string> options : requests) {
    options.insert(options.end(), {"--system", slow});
    EXPECT_THAT(refusalOf(options),
                HasSubstr(" on slow takes longer than 53 days: the rates of slow are too low, or "));
  }
  const std::filesystem::directory_iterator files(directory_.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "nothing was written";
}

TEST_F(SimulateLimits, AReplayWhoseTimeCannotBeCounted) {
  const pod::chakra::TracedCollective all_reduce{.bytes = pod::chakra::kMostTracedBytes};
  const std::vector<pod::chakra::TraceNode> nodes{{.id = 1, .name = "n1", .collective = all_reduce}};
  for (int rank = 0; rank < 2; ++rank)
    std::ofstream(directory_ / ("w." + std::to_string(rank) + ".et"), std::ios::binary)
        << pod::chakra::executionTrace(nodes);
  EXPECT_THAT(refusalOf({"--replay", directory_ / "w", "--system", slowSystem()}),
              HasSubstr("node 1, 'n1': an all-reduce of 1.0 PB on slow takes longer than 53 days"));
}

TEST_F(SimulateLimits, AReplayOfPipesDoesNotWait) {
  const std::string pipe = directory_ / "w.0.et";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusalOf({"--replay", directory_ / "w", "--system", "pod4"}),
              HasSubstr(pipe + " is not a regular file"));
}

TEST_F(SimulateLimits, ATrainingWhoseExchangeCannotBeCounted) {
  const std::string training = POP_SOURCE_DIR "/examples/pods/resnet50_v1.1";
  const std::string fitted = directory_ / "fitted.model";
  EXPECT_THAT(refusalOf({"--model", training + ".model", "--fit", training + ".csv", "--system", slowSystem(),
                         "--export-model", fitted}),
              HasSubstr("takes longer than 53 days: the rates of "));
  EXPECT_FALSE(std::filesystem::exists(fitted));
}

}  // namespace
}  // namespace pop::testing
