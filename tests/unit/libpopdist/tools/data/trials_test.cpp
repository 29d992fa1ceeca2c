// SPDX-License-Identifier: Apache-2.0
// Runs of a command with each kind of data: real processes that say how fast they are.
#include "libpopdist/tools/data/trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "popdist/error.hpp"

namespace popdist::data {
namespace {

Options shell(const std::string& script, std::vector<int> replicas = {}) {
  Options options{.verb = Verb::kCompare, .replicas = std::move(replicas)};
  options.command = {"/bin/sh", "-c", script};
  return options;
}

ErrorCode codeOf(const Options& options) {
  try {
    runTrials(options);
  } catch (const popdist_error& error) {
    return error.code();
  }
  ADD_FAILURE() << "expected an error";
  return ErrorCode::kInternal;
}

// Its variable is for the commands, not for the other tests of this program.
class Trials : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("POPDIST_DATA"); }
};

TEST_F(Trials, GiveEachKindOfDataToTheCommand) {
  const auto rows = runTrials(shell(
      "case $POPDIST_DATA in real) echo 10 samples/s;; generated) echo '20 samples/s';; synthetic) echo "
      "\"it's 30 samples/s\";; esac"));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].real, 10);
  EXPECT_EQ(rows[0].generated, 20);
  EXPECT_EQ(rows[0].synthetic, 30);
}

// echo says the option again; poprun would obey it.
TEST_F(Trials, GiveEachNumberOfReplicasInAscendingOrder) {
  Options options = shell("", {4, 1});
  options.command = {"echo", "samples/s", "7 samples/s"};
  const auto rows = runTrials(options);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].replicas, 1);
  EXPECT_EQ(rows[1].replicas, 4);
}

TEST_F(Trials, EndWithACommandThatFailsOrSaysNothing) {
  EXPECT_EQ(codeOf(shell("echo 5 samples/s; exit 3")), ErrorCode::kAborted);
  EXPECT_EQ(codeOf(shell("kill -9 $$")), ErrorCode::kAborted);
  EXPECT_EQ(codeOf(shell("echo quick")), ErrorCode::kNotFound);
  Options missing = shell("");
  missing.command = {"/nonexistent/program"};
  EXPECT_EQ(codeOf(missing), ErrorCode::kAborted);
}

}  // namespace
}  // namespace popdist::data
