// SPDX-License-Identifier: Apache-2.0
// A host that is reached by the user's own program: here one that runs the command on this host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class ReachedByAProgram : public ::testing::Test {
 protected:
  /// `before`: what it does before it runs the command, which is its last word. The agent is a descendant of
  /// poprun's here, which another host's is not: the last of it may be left for a moment, to be reaped.
  Outcome runBy(const std::string& before, const std::vector<std::string>& program) {
    const std::string path = directory_.path() + "/rsh";
    std::ofstream(path) << "#!/bin/sh\nfor command; do :; done\n" << before << "\nexec sh -c \"$command\"\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    std::vector<std::string> options{"--rsh", path, "--host", "elsewhere", "--tag-output", "no"};
    options.insert(options.end(), program.begin(), program.end());
    PoprunProcess poprun({.options = options});
    const int exit_code = poprun.wait();
    EXPECT_TRUE(poprun.goneWithin(kTimeout));
    return {exit_code, poprun.out(), poprun.err()};
  }

 private:
  TempDir directory_;
};

// Longer than a program is given to end.
TEST_F(ReachedByAProgram, ThatClosesItsStderrTheJobRunsToItsEnd) {
  const Outcome outcome = runBy("exec 2>/dev/null", {"sh", "-c", "sleep 2; echo done"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "done\n");
}

// A filter that keeps banners away works so.
TEST_F(ReachedByAProgram, ThatFailsIsQuotedThoughAFilterHasItsStderr) {
  const std::string filter = "mkfifo $0.errors; (sleep 0.3; cat $0.errors >&2) & exec 2> $0.errors";
  const Outcome outcome = runBy(filter + "; echo denied >&2; exit 255", {"true"});
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_THAT(outcome.err, HasSubstr("the agent did not start: denied (exit code 255)"));
}

TEST_F(ReachedByAProgram, ThatSaysTooMuchIsNotShownToTheEnd) {
  const Outcome outcome =
      runBy("head -c 20000000 /dev/zero | tr '\\0' 'x' | fold -w 99 >&2", {"echo", "done"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "done\n");
  EXPECT_LT(outcome.err.size(), 6U << 20);
  EXPECT_THAT(outcome.err, EndsWith("poprun: elsewhere: (too much output: the rest is not shown)\n"));
}

TEST_F(ReachedByAProgram, ThatSaysTooManyShortLinesIsNotShownToTheEnd) {
  const Outcome outcome = runBy("yes | head -n 500000 >&2", {"echo", "done"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_LT(outcome.err.size(), 6U << 20);
}

}  // namespace
}  // namespace pop::testing
