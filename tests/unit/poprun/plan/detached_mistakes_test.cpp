// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/detached_mistakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Options withProgram() {
  Options options;
  options.programs.front().command = {"./train", "x"};
  return options;
}

TEST(DetachedMistakes, AreNoneInWhatGoesTogether) {
  EXPECT_THAT(findDetachedMistakes({}), IsEmpty());
  Options detached = withProgram();
  detached.detached.detach = true;
  detached.detached.name = "train";
  detached.dry_run = DryRun::kText;
  detached.export_config = "f";
  detached.timestamp_output = true;
  EXPECT_THAT(findDetachedMistakes(detached), IsEmpty());
  Options attached;
  attached.detached.attach = {"", "7"};
  attached.detached.control = true;
  attached.timestamp_output = true;
  EXPECT_THAT(findDetachedMistakes(attached), IsEmpty());
  Options logs;
  logs.detached.logs = {"", "7"};
  logs.detached.follow = true;
  EXPECT_THAT(findDetachedMistakes(logs), IsEmpty());
  Options jobs;
  jobs.detached.jobs = JobAddress();
  jobs.detached.json = true;
  EXPECT_THAT(findDetachedMistakes(jobs), IsEmpty());
}

TEST(DetachedMistakes, OfTwoCommandsNameBoth) {
  Options options;
  options.detached.jobs = JobAddress();
  options.detached.logs = {"", "7"};
  EXPECT_THAT(findDetachedMistakes(options),
              ElementsAre("--jobs and --logs exclude each other: give only one"));
  options.detached.logs.reset();
  options.detached.detach = true;
  EXPECT_THAT(findDetachedMistakes(options),
              ElementsAre("--jobs and --detach exclude each other: give only one"));
  options.detached.detach = false;
  options.dry_run = DryRun::kJson;
  EXPECT_THAT(findDetachedMistakes(options),
              ElementsAre("--jobs and --dry-run exclude each other: give only one"));
  options.dry_run = DryRun::kNo;
  options.export_config = "f";
  EXPECT_THAT(findDetachedMistakes(options),
              ElementsAre("--jobs and --export-config exclude each other: give only one"));
}

TEST(DetachedMistakes, ACommandStartsNoProgram) {
  Options options = withProgram();
  options.detached.cancel = {"", "7"};
  EXPECT_THAT(findDetachedMistakes(options), ElementsAre("--cancel starts no program: leave out './train'"));
}

TEST(DetachedMistakes, SomeOptionsGoWithOneCommandOnly) {
  Options options = withProgram();
  options.detached.name = "train";
  options.detached.control = true;
  options.detached.json = true;
  options.detached.follow = true;
  EXPECT_THAT(
      findDetachedMistakes(options),
      ElementsAre("--name only goes with --detach or --controller", "--control only goes with --attach",
                  "--json only goes with --jobs", "--follow only goes with --logs"));
}

TEST(DetachedMistakes, ADetachedJobHasNoFilesOfOutputAndNoInput) {
  Options options = withProgram();
  options.detached.detach = true;
  options.output_filename = "logs";
  EXPECT_THAT(
      findDetachedMistakes(options),
      ElementsAre("--output-filename: a detached job's output is in its log; give it to --logs or --attach"));
  options.detached.detach = false;
  options.detached.on_hangup = OnHangup::kDetach;
  EXPECT_THAT(findDetachedMistakes(options), IsEmpty()) << "this poprun writes them";
  options.stdin_policy.who = model::StdinPolicy::Who::kNone;
  EXPECT_THAT(findDetachedMistakes(options), IsEmpty());
  options.stdin_policy.who = model::StdinPolicy::Who::kAll;
  EXPECT_THAT(findDetachedMistakes(options),
              ElementsAre("--stdin: a job that can go on without its terminal reads nothing from it"));
}

TEST(DetachedMistakes, ALogHasNoTimes) {
  Options options;
  options.detached.logs = {"", "7"};
  options.timestamp_output = true;
  EXPECT_THAT(findDetachedMistakes(options),
              ElementsAre("--timestamp-output: a job's log does not have the times of its lines"));
}

TEST(DetachedMistakes, APartitionIsHeldByPoprunItself) {
  Options options = withProgram();
  options.detached.detach = true;
  options.partition.name = "p";
  EXPECT_EQ(findDetachedMistakes(options).size(), 1U);
  options.controller.server = "head";
  EXPECT_THAT(findDetachedMistakes(options), IsEmpty());
}

}  // namespace
}  // namespace pop
