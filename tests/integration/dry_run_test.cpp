// SPDX-License-Identifier: Apache-2.0
// The plan of the real poprun, and that it comes true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

// Plans a job, then runs it: every instance compares.
Outcome runAsPlanned(const Words& options, const std::map<std::string, std::string>& environment = {}) {
  const std::string path = ::testing::TempDir() + "plan-of-" + std::to_string(::getpid()) + ".json";
  Words planned = options;
  planned.insert(planned.end(), {"--dry-run=json", "./train"});
  const Outcome plan = run({.options = planned, .environment = environment});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  std::ofstream(path) << plan.out;
  Words real = options;
  real.insert(real.end(), {"--tag-output", "no", POP_PYTHON3, "-B",
                           POP_SOURCE_DIR "/tests/testing/readers/plan.py", path});
  Outcome outcome = run({.options = real, .environment = environment});
  std::filesystem::remove(path);
  return outcome;
}

TEST(Plan, SaysWhatEveryInstanceWillFind) {
  const Outcome outcome =
      runAsPlanned({"--num-instances", "3", "--num-replicas", "6", "--ipus-per-replica", "2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(linesOf(outcome.out).size(), 3U);
}

TEST(Plan, SaysItOfTheUsersVariablesToo) {
  const Outcome outcome =
      runAsPlanned({"--num-instances", "2", "--env-for", "tensorflow,poplar", "--tf-config-tasks",
                    "evaluator", "-x", "QUOTED=a \"b\"\n\\ é", "-x", "POPDIST_SYSTEM=mine", "-x", "HERE"},
                   {{"HERE", "of the user"}, {"POPLAR_TARGET_OPTIONS", R"({"x":"1"})"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(linesOf(outcome.out).size(), 2U);
}

TEST(Plan, SaysWhichExecutableCacheIsUsed) {
  const Outcome inherited = run(
      {.options = {"--dry-run=json", "./train"}, .environment = {{"POPDIST_EXECUTABLE_CACHE_PATH", "/own"}}});
  EXPECT_THAT(inherited.out, HasSubstr(R"("POPDIST_EXECUTABLE_CACHE_PATH":"/own")"));
  const TempDir directory;
  const std::string relative = std::filesystem::relative(directory.path());
  const Outcome asked = runAsPlanned({"--executable-cache-path", relative});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
}

TEST(Plan, ThatCannotBeStartedIsRefused) {
  // Just short enough for poprun's own environment; merged, it is too long for an instance's.
  const std::string options = R"({"x":")" + std::string(131000, 'x') + R"("})";
  const Outcome outcome =
      run({.options = {"--dry-run", "./train"}, .environment = {{"POPLAR_TARGET_OPTIONS", options}}});
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, StartsWith("poprun: POPLAR_TARGET_OPTIONS for 1 instance needs 131"));
}

}  // namespace
}  // namespace pop::testing
