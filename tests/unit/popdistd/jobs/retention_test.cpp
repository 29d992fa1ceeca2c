// SPDX-License-Identifier: Apache-2.0
// Jobs that have ended are forgotten by age and by number; others never.
#include "tests/unit/popdistd/jobs/cluster_fixture.h"

namespace pop::popdistd::testing {
namespace {

class RetentionTest : public ClusterTest {
 protected:
  void startAgain(const RetentionSettings& settings) {
    killDaemon();
    retention_ = settings;
    startDaemon();
  }
  std::int64_t ended(FakeHost& host) {
    const std::int64_t id = submit(requestOf());
    host.finish({id, 1}, 0);
    settle();
    return id;
  }
  bool isKnown(std::int64_t id) {
    Answer<v1::JobInfo> answer;
    core_->get({"alice", ""}, ref(id), answer.reply());
    return answer.code() == Code::kOk;
  }
};

TEST_F(RetentionTest, ForgetsByAge) {
  startAgain({.age = std::chrono::hours(1)});
  FakeHost& h0 = join("h0");
  const std::int64_t old = ended(h0);
  const std::int64_t running = submit(requestOf());
  advance(std::chrono::minutes(40));
  const std::int64_t younger = ended(h0);
  EXPECT_TRUE(isKnown(old));
  advance(std::chrono::minutes(22));
  EXPECT_FALSE(isKnown(old));
  EXPECT_FALSE(h0.runners.contains({old, 1})) << "nor does its host have its records";
  EXPECT_TRUE(isKnown(younger));
  EXPECT_EQ(job(running).state(), v1::JOB_RUNNING);
  killDaemon();
  startDaemon();
  EXPECT_FALSE(isKnown(old)) << "the store has forgotten it, too";
  EXPECT_TRUE(isKnown(younger));
}

// For a minute, or while popdistd was down.
TEST_F(RetentionTest, AJumpOfTheClockForgetsNothing) {
  startAgain({.age = std::chrono::hours(1)});
  FakeHost& h0 = join("h0");
  const std::int64_t before = ended(h0);
  const auto jumpBy = [this](std::chrono::hours by) {
    wall_ += by;
    advance(std::chrono::minutes(3));
  };
  jumpBy(std::chrono::hours(24 * 40));
  EXPECT_TRUE(isKnown(before));
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_NE(warnings_[0].find("jumped by 3456000 s forward"), std::string::npos) << warnings_[0];
  Answer<v1::AboutReply> about;
  core_->about(callerOf("alice"), {}, about.reply());
  ASSERT_EQ(about.value().warnings_size(), 1);
  EXPECT_EQ(about.value().warnings(0), warnings_[0]);
  const std::int64_t while_ahead = ended(h0);
  jumpBy(-std::chrono::hours(24 * 40));
  EXPECT_EQ(warnings_.size(), 2U);
  EXPECT_TRUE(isKnown(while_ahead));

  killDaemon();
  wall_ += std::chrono::hours(24 * 365);
  startDaemon();
  join("h0");
  advance(std::chrono::minutes(3));
  EXPECT_TRUE(isKnown(before));
  EXPECT_TRUE(isKnown(while_ahead));
  advance(std::chrono::minutes(65));
  EXPECT_FALSE(isKnown(before)) << "time that was seen to pass counts";
  EXPECT_FALSE(isKnown(while_ahead));
}

TEST_F(RetentionTest, ForgetsTheOldestOfTooMany) {
  startAgain({.age = seconds(0), .most_jobs = 2});
  FakeHost& h0 = join("h0");
  std::vector<std::int64_t> jobs;
  for (int i = 0; i < 4; ++i) {
    jobs.push_back(ended(h0));
    advance(seconds(2));
  }
  advance(std::chrono::minutes(2));
  EXPECT_EQ((std::vector<bool>{isKnown(jobs[0]), isKnown(jobs[1]), isKnown(jobs[2]), isKnown(jobs[3])}),
            (std::vector<bool>{false, false, true, true}));
}

TEST_F(RetentionTest, AnAgeOfMillenniaKeepsAll) {
  startAgain({.age = std::chrono::hours(24) * std::int64_t{4'294'967'295}});
  const std::int64_t old = ended(join("h0"));
  advance(std::chrono::minutes(2));
  EXPECT_TRUE(isKnown(old));
}

TEST_F(RetentionTest, WithoutLimitsKeepsAll) {
  startAgain({.age = seconds(0), .most_jobs = 0});
  const std::int64_t id = ended(join("h0"));
  advance(std::chrono::hours(2));
  EXPECT_TRUE(isKnown(id));
}

TEST(RetentionTurns, AreShort) {
  Revisions revisions(1);
  JobTable jobs(revisions);
  const std::chrono::system_clock::time_point now{std::chrono::hours(1000)};
  for (std::int64_t id = 1; id <= 1200; ++id) {
    v1::JobRecord record;
    record.mutable_info()->set_id(id);
    record.mutable_info()->set_state(v1::JOB_ENDED);
    *record.mutable_info()->mutable_ended() = timestamp(now - std::chrono::hours(100));
    jobs.add(std::move(record), nullptr);
  }
  Retention retention({.age = std::chrono::hours(10), .most_jobs = 0});
  std::vector<std::size_t> turns;
  for (int i = 0; i < 4; ++i) {
    const std::vector<std::int64_t> due = retention.due(jobs, now + seconds(i));
    turns.push_back(due.size());
    for (const std::int64_t id : due) jobs.remove(id);
  }
  EXPECT_EQ(turns, (std::vector<std::size_t>{500, 500, 200, 0}));
}

}  // namespace
}  // namespace pop::popdistd::testing
