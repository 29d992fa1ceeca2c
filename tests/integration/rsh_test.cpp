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
  // `before`: what it does before it runs the command, which is its last word.
  Outcome runBy(const std::string& before, const std::vector<std::string>& program) {
    const std::string path = directory_.path() + "/rsh";
    std::ofstream(path) << "#!/bin/sh\nfor command; do :; done\n" << before << "\nexec sh -c \"$command\"\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    std::vector<std::string> options{"--rsh", path, "--host", "elsewhere", "--tag-output", "no"};
    options.insert(options.end(), program.begin(), program.end());
    return run({.options = options});
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

TEST_F(ReachedByAProgram, ThatSaysTooMuchIsNotShownToTheEnd) {
  const Outcome outcome =
      runBy("head -c 20000000 /dev/zero | tr '\\0' 'x' | fold -w 99 >&2", {"echo", "done"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "done\n");
  EXPECT_LT(outcome.err.size(), 6U << 20);
  EXPECT_THAT(outcome.err, EndsWith("poprun: elsewhere: (it says too much; the rest is not shown)\n"));
}

}  // namespace
}  // namespace pop::testing
