// SPDX-License-Identifier: Apache-2.0
// The life of a job's runner: how the job ends, by itself and when it is told to, and what is left.
#include <sys/stat.h>

#include "tests/integration/runner/runner_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

using Runner = RunnerTest;

bool says(const Followed& followed, const std::string& text) {
  return followed.output(Stream::kStdout, 16).find(text) != std::string::npos;
}

TEST_F(Runner, TellsWhatAJobHasWrittenAndHowItHasEnded) {
  RunnerProcess runner(job(), scriptOrder("echo out; echo err >&2; exit 7", 2));
  ASSERT_TRUE(runner.becomesUp()) << runner.errors();
  EXPECT_FALSE(runner.up()->is_feeder());
  runner.follow(1, 1);
  const Followed& all = runner.waitForEnd(1);
  EXPECT_EQ(all.end, "");
  EXPECT_THAT(all.output(Stream::kStdout, 2), HasSubstr("out\n"));
  EXPECT_THAT(all.output(Stream::kStderr, 2), HasSubstr("err\n"));
  ASSERT_TRUE(all.outcome(2).has_value());
  EXPECT_EQ(all.outcome(2)->exit_code, 7);
  EXPECT_EQ(outcomeOnDisk()->exit_code, 7);
  EXPECT_EQ(all.records.front().sequence(), 1u);
  runner.follow(2, all.last());
  EXPECT_TRUE(runner.waitForEnd(2).outcome(2).has_value()) << "it stays for others";
  runner.retire();
  EXPECT_EQ(runner.exitCode(), 0) << "also of a job that has failed";
  EXPECT_EQ(runner.errors(), "");
  EXPECT_TRUE(nothingIsLeft());
}

TEST_F(Runner, GivesTheJobVariablesNoInputAndNoDescriptors) {
  v1::JobSpec spec;
  v1::Program& program = *spec.add_programs();
  for (const char* word : {"/bin/sh", "-c", "cat; echo $GREETING $HOME; echo $(ls /proc/self/fd)"})
    program.add_words(word);
  (*spec.mutable_variables())["GREETING"] = "hello";
  spec.add_hosts()->set_name("node7");
  RunnerProcess runner(job(), orderOf(spec));
  runner.follow(1, 1);
  const Followed& all = runner.waitForEnd(1);
  // 20 is its link to the agent, and 3 the directory that is listed.
  EXPECT_THAT(all.output(), HasSubstr("hello " + std::string(std::getenv("HOME")) + "\n0 1 2 20 3\n"));
  std::vector<PlacedInstance> placed;
  for (const wire::JobEvent& event : all.events()) {
    if (const auto* each = std::get_if<wire::Placed>(&event)) placed = each->instances;
  }
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_EQ(placed[0].host, "node7") << "the only host is this one, by any name";
}

TEST_F(Runner, WritesForItsUserAlone) {
  RunnerProcess runner(job(), scriptOrder("true"));
  runner.follow(1, 1);
  runner.waitForEnd(1);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(job())) {
    struct stat status {};
    ASSERT_EQ(::lstat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 077, 0u) << entry.path();
  }
}

TEST_F(Runner, StopsTheJobWithGraceAndTheSecondTimeKillsIt) {
  RunnerProcess runner(job(),
                       scriptOrder("trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done"));
  runner.follow(1, 1);
  runner.runUntil([&] { return says(runner.followed(1), "ready\n"); });
  runner.stop(SIGTERM);
  runner.runUntil([&] { return says(runner.followed(1), "asked\n"); });
  runner.stop(SIGTERM);
  const Followed& all = runner.waitForEnd(1);
  ASSERT_TRUE(all.outcome().has_value());
  EXPECT_EQ(all.outcome()->user_signal, SIGTERM);
  EXPECT_EQ(all.outcome()->exit_code, 128 + SIGTERM);
}

TEST_F(Runner, EndsAStreamThatWantsOnlyWhatThereIs) {
  RunnerProcess runner(job(), scriptOrder("echo ready; exec sleep 1000"));
  runner.follow(1, 1);
  runner.runUntil([&] { return says(runner.followed(1), "ready\n"); });
  runner.follow(2, 1, 1 << 20, false, true);
  EXPECT_TRUE(says(runner.waitForEnd(2), "ready\n"));
  EXPECT_FALSE(runner.followed(1).end);
}

TEST_F(Runner, PassesSignalsOn) {
  RunnerProcess runner(job(), scriptOrder("trap 'exit 9' USR1; echo ready; while :; do sleep 0.01; done", 2));
  runner.follow(1, 1);
  runner.runUntil([&] {
    const std::string text = runner.followed(1).output(Stream::kStdout, 2);
    return text == "ready\nready\n";
  });
  runner.signal(SIGUSR1);
  EXPECT_EQ(runner.waitForEnd(1).outcome(2)->exit_code, 9);
}

TEST_F(Runner, StopsTheJobAtSigterm) {
  RunnerProcess runner(job(), scriptOrder("echo ready; exec sleep 1000"));
  runner.follow(1, 1);
  runner.runUntil([&] { return says(runner.followed(1), "ready\n"); });
  runner.kill(SIGTERM);
  EXPECT_EQ(runner.waitForEnd(1).outcome()->user_signal, SIGTERM);
  runner.kill(SIGTERM);
  EXPECT_EQ(runner.exitCode(), 0) << "the job was over: the runner has nothing to stay for";
  EXPECT_TRUE(nothingIsLeft());
}

TEST_F(Runner, RunsTheJobToItsEndWithoutTheService) {
  RunnerProcess runner(job(), scriptOrder("echo ready; " + kWaitsToGo + "exit 5"));
  runner.follow(1, 1);
  runner.runUntil([&] { return says(runner.followed(1), "ready\n"); });
  runner.hangUp();
  EXPECT_FALSE(outcomeOnDisk().has_value());
  letGo();
  EXPECT_EQ(runner.exitCode(), 0);
  EXPECT_EQ(outcomeOnDisk()->exit_code, 5);
  EXPECT_TRUE(nothingIsLeft());
}

TEST_F(Runner, RetiredBeforeTheEndGoesWithTheJob) {
  RunnerProcess runner(job(), scriptOrder(kWaitsToGo));
  ASSERT_TRUE(runner.becomesUp());
  runner.retire();
  letGo();
  EXPECT_EQ(runner.exitCode(), 0);
  EXPECT_EQ(outcomeOnDisk()->exit_code, 0);
}

TEST_F(Runner, ThatIsKilledLeavesItsRecordsToAFeeder) {
  RunnerProcess runner(job(), scriptOrder("seq 1 1000; echo ready; exec sleep 1000"));
  runner.follow(1, 1);
  runner.runUntil([&] { return says(runner.followed(1), "ready\n"); });
  const std::uint64_t last = runner.followed(1).last();
  runner.kill(SIGKILL);
  EXPECT_EQ(runner.exitCode(), -SIGKILL);
  EXPECT_TRUE(nothingIsLeft());

  RunnerProcess feeder(job(), feedOrder());
  ASSERT_TRUE(feeder.becomesUp()) << feeder.errors();
  EXPECT_TRUE(feeder.up()->is_feeder());
  EXPECT_GE(feeder.up()->last_sequence(), last);
  feeder.follow(1, 1);
  const Followed& all = feeder.waitForEnd(1);
  EXPECT_EQ(all.end, "");
  EXPECT_EQ(all.last(), feeder.up()->last_sequence());
  EXPECT_EQ(all.output(), numbers(1000) + "ready\n");
  EXPECT_FALSE(all.outcome().has_value());
  feeder.retire();
  EXPECT_EQ(feeder.exitCode(), 0);
}

TEST_F(Runner, OfAJobThatHasEndedIsReplacedByAFeeder) {
  RunnerProcess runner(job(), scriptOrder("seq 1 100"));
  runner.retire();
  ASSERT_EQ(runner.exitCode(), 0);
  RunnerProcess feeder(job(), feedOrder());
  feeder.follow(1, 1);
  EXPECT_EQ(feeder.waitForEnd(1).output(), numbers(100));
  EXPECT_EQ(feeder.followed(1).outcome()->exit_code, 0);
  feeder.hangUp();
  EXPECT_EQ(feeder.exitCode(), 0);
}

TEST_F(Runner, RemovesAJob) {
  RunnerProcess runner(job(), scriptOrder("echo text"));
  runner.retire();
  ASSERT_EQ(runner.exitCode(), 0);
  RunnerProcess remover(job(), removeOrder());
  EXPECT_EQ(remover.exitCode(), 0) << remover.errors();
  EXPECT_TRUE(std::filesystem::is_empty(job()));
  RunnerProcess again(job(), removeOrder());
  EXPECT_EQ(again.exitCode(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(job()));
}

}  // namespace
}  // namespace pop::testing
