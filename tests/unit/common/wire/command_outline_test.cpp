// SPDX-License-Identifier: Apache-2.0
#include "common/wire/command_outline.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "common/wire/agent_codec.h"

namespace pop::wire {
namespace {

v1::Command run(int instances) {
  v1::Command command;
  command.set_number(7);
  v1::Slice& slice = *command.mutable_run();
  slice.set_job_id("job");
  slice.set_kill_grace_ms(-1);
  slice.add_programs()->add_command("true");
  for (int instance = 0; instance < instances; ++instance)
    slice.add_instances()->mutable_env()->set_instance_index(instance);
  return command;
}

TEST(CommandOutline, CountsTheInstancesOfARun) {
  for (const int instances : {0, 1, 300}) {
    Result<CommandOutline> outline = outlineOf(run(instances).SerializeAsString());
    ASSERT_TRUE(outline.ok());
    EXPECT_TRUE(outline->is_run);
    EXPECT_EQ(outline->instances, instances);
  }
}

TEST(CommandOutline, OfOthersSaysThatTheyAreNone) {
  v1::Command input;
  input.set_input(run(3).SerializeAsString());
  v1::Command stop;
  stop.mutable_stop();
  for (const v1::Command& command : {input, stop, v1::Command()}) {
    Result<CommandOutline> outline = outlineOf(command.SerializeAsString());
    ASSERT_TRUE(outline.ok());
    EXPECT_FALSE(outline->is_run);
  }
}

// A reader would merge two slices: neither alone is the job that runs.
TEST(CommandOutline, RefusesSeveralBodies) {
  v1::Command stop;
  stop.mutable_stop();
  const std::string once = run(3).SerializeAsString();
  EXPECT_EQ(outlineOf(once + once).code(), Code::kDataLoss);
  EXPECT_EQ(outlineOf(once + stop.SerializeAsString()).code(), Code::kDataLoss);
}

TEST(CommandOutline, RefusesWhatIsCutShort) {
  const std::string whole = run(2).SerializeAsString();
  for (std::size_t length = 3; length < whole.size(); ++length)
    EXPECT_FALSE(outlineOf(whole.substr(0, length)).ok()) << length;
}

// However damaged: what a reader takes for a slice has no more instances than were counted.
TEST(CommandOutline, NeverCountsLessThanAReaderDoes) {
  std::mt19937 random(1);
  const std::string whole = run(4).SerializeAsString();
  int read = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    Result<CommandOutline> outline = outlineOf(bytes);
    v1::Command command;
    if (!outline.ok() || !command.ParseFromString(bytes)) continue;
    ++read;
    ASSERT_EQ(outline->is_run, command.has_run());
    ASSERT_EQ(outline->instances, command.run().instances_size());
  }
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace pop::wire
