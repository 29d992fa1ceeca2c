// SPDX-License-Identifier: Apache-2.0
// poprun's output without running anything, or before it does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Help, PrintsTheOptionsAndSucceeds) {
  const Outcome result = run({.options = {"--help"}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  for (const char* text : {"Usage: poprun", "--num-instances", "--num-replicas", "--dry-run"}) {
    EXPECT_THAT(result.out, HasSubstr(text));
  }
}

TEST(Version, IsPrinted) {
  const Outcome result = run({.options = {"--version"}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, StartsWith("poprun "));
  EXPECT_EQ(linesOf(result.out).size(), 1U);
}

TEST(ScalingReport, IsPrintedInEachFormatAndErrorsNameFileAndLine) {
  const TempDir directory;
  const std::string log = directory / "runs.jsonl";
  const std::string seconds =
      R"("seconds":{"all":2,"input":0.5,"step":1,"reduction":0.25,"update":0.25,"constant":1}})";
  std::ofstream(log) << R"({"replicas":1,"instances":1,"micro_batch":8,"accumulation":2,"updates":50,)"
                     << seconds << '\n'
                     << R"({"replicas":2,"instances":2,"micro_batch":8,"accumulation":2,"updates":50,)"
                     << seconds << '\n';
  const Outcome text = run({.options = {"--scaling-report", log}});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("| replicas |"));
  EXPECT_THAT(text.out, HasSubstr("25 %"));
  const auto as = [&](const char* format) {
    return run({.options = {"--scaling-report", log, "--scaling-format", format}});
  };
  EXPECT_THAT(as("json").out, StartsWith(R"({"configurations":)"));
  EXPECT_THAT(as("svg").out, StartsWith("<svg"));
  EXPECT_EQ(as("pdf").exit_code, 125);
  EXPECT_EQ(run({.options = {"--scaling-report", log, "true"}}).exit_code, 125) << "a program";

  std::ofstream(log, std::ios::app) << R"({"replicas":0})" << '\n';
  const Outcome damaged = run({.options = {"--scaling-report", log}});
  EXPECT_EQ(damaged.exit_code, 125);
  EXPECT_EQ(damaged.out, "");
  EXPECT_THAT(damaged.err, HasSubstr(log + "', line 3: replicas"));
}

TEST(DryRun, StartsNothing) {
  const TempDir directory;
  const std::string witness = directory.path() + "/witness";
  const Outcome result =
      run({.options = {"--num-instances", "2", "--num-replicas", "4", "--dry-run", "touch", witness}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(witness));
  EXPECT_THAT(result.out, HasSubstr("touch " + witness));
  EXPECT_THAT(result.out, HasSubstr("POPDIST_REPLICA_INDEX_OFFSET=2"));
}

TEST(DryRun, FindsMistakes) {
  EXPECT_EQ(run({.options = {"--dry-run", "--num-instances", "-1", "true"}}).exit_code, 125);
  EXPECT_EQ(run({.options = {"--dry-run"}}).exit_code, 125);
  const Outcome taken = run({.options = {"--dry-run", "true"}});
  EXPECT_EQ(taken.exit_code, 125);
  EXPECT_THAT(taken.err, HasSubstr("poprun: 'true' was taken for the value of --dry-run: write -- before a "
                                   "program of that name\n"));
  EXPECT_EQ(run({.options = {"--dry-run", "--", "true"}}).exit_code, 0);
}

TEST(PrintTopology, ComesBeforeTheProgramsOutput) {
  const Outcome result =
      run({.options = {"--num-instances", "2", "--print-topology", "yes", "echo", "of the program"}});
  EXPECT_EQ(result.exit_code, 0);
  const std::size_t table = result.out.find("poprun topology");
  ASSERT_NE(table, std::string::npos) << result.out;
  EXPECT_THAT(result.out, HasSubstr("| instances"));
  EXPECT_LT(table, result.out.find("of the program"));
  EXPECT_THAT(run({.options = {"--print-topology", "no", "true"}}).out, "");
}

TEST(ProgramsOptions, AreNotPopruns) {
  EXPECT_EQ(run({.options = {"echo", "--version", "-H", "--"}}).out, "--version -H --\n");
  EXPECT_EQ(run({.options = {"--", "echo", "-x", "--num-instances"}}).out, "-x --num-instances\n");
}

TEST(Verbose, OnceSaysWhatTheJobDoesButNotEachInstance) {
  const Outcome result = run({.options = {"-v", "echo", "hello"}});
  EXPECT_EQ(result.out, "hello\n");
  EXPECT_THAT(result.err, HasSubstr("POPRUN [I] job is running\n"));
  EXPECT_THAT(result.err, Not(HasSubstr("instance 0")));
}

TEST(Debug, SaysWhatWasUnderstoodAndAllThatHappens) {
  const Outcome result = run({.options = {"--debug", "-np", "2", "echo", "hello"}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("num-instances = 2\n"));
  EXPECT_THAT(result.err, HasSubstr("command = echo hello\n"));
  EXPECT_THAT(result.err, HasSubstr("poprun: instance 1 on localhost: "));
  EXPECT_THAT(result.err, HasSubstr("instance 0 exited with code 0"));
  EXPECT_THAT(result.out, HasSubstr("poprun topology"));
}

TEST(Wdir, IsWhereTheProgramRuns) {
  EXPECT_EQ(run({.options = {"--wdir", "/usr/lib", "pwd", ":", "--wdir", "/usr", "true"}}).out,
            "[0] /usr/lib\n");
}

TEST(Verbose, SaysWhatHappensOnStderr) {
  const Outcome result = run({.options = {"-vv", "echo", "hello"}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("instance 0 started, pid "));
  EXPECT_THAT(result.err, HasSubstr("instance 0 exited with code 0"));
}

}  // namespace
}  // namespace pop::testing
