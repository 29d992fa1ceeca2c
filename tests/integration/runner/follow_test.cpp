// SPDX-License-Identifier: Apache-2.0
// Followers of a job that writes much: nothing is lost or doubled, and none of them holds the job up.
#include <algorithm>

#include "tests/integration/runner/runner_fixture.h"

namespace pop::testing {
namespace {

class RunnerFollow : public RunnerTest {
 protected:
  // seq's lines; their log is never too small for them.
  static constexpr int kNumbers = 6'600'000;  // 51.7 MB
  static v1::HostOrder muchOutput() {
    v1::HostOrder order = scriptOrder("seq 1 " + std::to_string(kNumbers));
    order.mutable_start()->set_log_limit_bytes(256 << 20);
    return order;
  }

  static void expectUnbroken(const Followed& followed, std::uint64_t first) {
    for (const v1::StoredRecord& record : followed.records) ASSERT_EQ(record.sequence(), first++);
  }
};

TEST_F(RunnerFollow, GoesOnInTheMiddleWhileTheJobWrites) {
  RunnerProcess runner(job(), muchOutput());
  std::string output;
  std::uint64_t next = 1;
  bool has_outcome = false;  // it may come with the last but one, before that one's end
  for (int stream = 1;; ++stream) {
    runner.follow(stream, next);
    Followed& part = runner.followed(stream);
    runner.runUntil([&] { return part.records.size() > 40 || part.end; });
    const bool is_last = part.end.has_value();
    runner.unfollow(stream);
    const Followed taken = part;  // later records are not counted
    ASSERT_NO_FATAL_FAILURE(expectUnbroken(taken, next));
    output += taken.output();
    has_outcome = has_outcome || taken.outcome().has_value();
    if (is_last) {
      EXPECT_EQ(part.end, "");
      EXPECT_TRUE(has_outcome);
      break;
    }
    if (!taken.records.empty()) next = taken.last() + 1;
  }
  EXPECT_TRUE(output == numbers(kNumbers)) << output.size();
}

TEST_F(RunnerFollow, WithoutCreditHoldsUpNeitherTheJobNorOthers) {
  RunnerProcess runner(job(), muchOutput());
  runner.follow(1, 1, 0);
  runner.follow(2, 1);
  runner.follow(3, 1, 64 << 10);
  runner.follow(4, 1, 1 << 20, true);
  for (const int stream : {2, 3}) {
    const Followed& all = runner.waitForEnd(stream);
    ASSERT_NO_FATAL_FAILURE(expectUnbroken(all, 1));
    EXPECT_TRUE(all.output() == numbers(kNumbers)) << stream;
    EXPECT_EQ(all.outcome()->exit_code, 0);
  }
  const Followed& events = runner.waitForEnd(4);
  EXPECT_EQ(events.events().size(), events.records.size());
  EXPECT_EQ(events.events().size(), runner.followed(2).events().size());
  EXPECT_TRUE(runner.followed(1).records.empty());
  EXPECT_FALSE(runner.followed(1).end.has_value());
  runner.retire();
  EXPECT_EQ(runner.exitCode(), 0) << "although one has not got all";
}

// The service does not read at all: what waits for it has a bound.
TEST_F(RunnerFollow, TakesNoMemoryForWhoDoesNotRead) {
  RunnerProcess runner(job(),
                       scriptOrder("seq 1 " + std::to_string(kNumbers) + "; touch \"$GO\"; exec sleep 1000"));
  ASSERT_TRUE(runner.becomesUp());
  for (int stream = 1; stream <= 20; ++stream) runner.follow(stream, 1, std::int64_t{1} << 40);
  const std::string go = directory_.path() + "/go";
  ASSERT_TRUE(waitUntil([&] { return std::filesystem::exists(go); }, std::chrono::seconds(60)));
  const std::string status = sys::readFile("/proc/" + std::to_string(runner.pid()) + "/status").value();
  EXPECT_LT(std::stol(status.substr(status.find("VmHWM:") + 6)), 40'000) << "kB";
  runner.kill(SIGKILL);
}

TEST_F(RunnerFollow, SeesTheLogsBound) {
  v1::HostOrder order = muchOutput();
  order.mutable_start()->set_log_limit_bytes(1);  // the least is 8 MiB
  RunnerProcess runner(job(), order);
  runner.follow(1, 1, 1, true);
  runner.waitForEnd(1);
  runner.follow(2, 1);
  const Followed& rest = runner.waitForEnd(2);
  EXPECT_GT(rest.cost, 4 << 20);
  EXPECT_LT(rest.cost, 20 << 20);
  const auto gaps =
      std::count_if(rest.records.begin(), rest.records.end(), [](const v1::StoredRecord& record) {
        return record.kind() == static_cast<int>(runner::RecordKind::kGap);
      });
  EXPECT_EQ(gaps, 1);
  EXPECT_TRUE(rest.output().ends_with(std::to_string(kNumbers) + '\n'));
}

}  // namespace
}  // namespace pop::testing
