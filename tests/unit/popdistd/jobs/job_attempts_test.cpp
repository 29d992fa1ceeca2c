// SPDX-License-Identifier: Apache-2.0
// Attempts to start a job's runner: each has a number of its own, and one of them runs the program.
#include "tests/unit/popdistd/jobs/cluster_fixture.h"

namespace pop::popdistd::testing {
namespace {

class JobAttempts : public ClusterTest {
 protected:
  /// A job whose order has left, and is on its way.
  std::int64_t ordered(int num_instances = 1, int num_hosts = 0) {
    Answer<v1::SubmitReply> answer;
    v1::SubmitRequest request = requestOf(num_instances);
    if (num_hosts > 0) request.set_num_hosts(num_hosts);
    core_->submit(callerOf("alice"), request, answer.reply());
    loop_->runPosted();
    EXPECT_EQ(job(answer.value().job().id()).state(), v1::JOB_STARTING);
    return answer.value().job().id();
  }
  static v1::HostReport started(const RunnerId& runner) {
    v1::HostReport report;
    *report.mutable_started()->mutable_key() = keyOf(runner);
    return report;
  }
  static v1::HostReport refused(const RunnerId& runner, Code code) {
    v1::HostReport report;
    *report.mutable_refused()->mutable_key() = keyOf(runner);
    report.mutable_refused()->set_code(static_cast<int>(code));
    report.mutable_refused()->set_why("the agent service there is being stopped");
    return report;
  }
  /// The next life of the daemon, which does not know which orders have left.
  void restart() {
    killDaemon();
    startDaemon();
    settle();
  }
};

TEST_F(JobAttempts, AreNumberedOnEvenWhereOneWasLost) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = ordered();
  for (int lost = 1; lost <= 3; ++lost) {
    EXPECT_EQ(job(id).attempt(), lost);
    h0.loseConnection();
    ASSERT_TRUE(h0.join(*core_).ok());
    loop_->runPosted();
  }
  settle();
  EXPECT_EQ(h0.starts, (std::map<RunnerId, int>{{{id, 4}, 1}}));
  EXPECT_EQ(job(id).restarts(), 0);
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
}

TEST_F(JobAttempts, ThatAreOverAreKilledWhenTheyAreHeardOf) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = ordered();
  h0.loseConnection();
  join("h0");
  ASSERT_EQ(job(id).attempt(), 2);
  h0.runners[{id, 1}];
  h0.says(started({id, 1}));
  h0.runners[{id, 3}];
  h0.says(started({id, 3}));
  settle();
  EXPECT_FALSE(h0.runners.contains({id, 1}));
  EXPECT_FALSE(h0.runners.contains({id, 3})) << "no order was given for it";
  EXPECT_TRUE(h0.runners.at({id, 2}).alive);
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
}

TEST_F(JobAttempts, OfJobsThatWaitOrAreGoneAreKilledToo) {
  FakeHost& h0 = join("h0", 1);
  const std::int64_t runs = submit(requestOf());
  const std::int64_t waits = submit(requestOf());
  for (const RunnerId& late : {RunnerId{waits, 1}, RunnerId{runs, 7}}) {
    h0.runners[late];
    h0.says(started(late));
    settle();
    EXPECT_FALSE(h0.runners.contains(late));
  }
  h0.finish({runs, 1}, 0);
  settle();
  Answer<v1::Nothing> forgotten;
  core_->forget(callerOf("alice"), ref(runs), forgotten.reply());
  settle();
  h0.runners[{runs, 1}];
  h0.says(started({runs, 1}));
  settle();
  EXPECT_FALSE(h0.runners.contains({runs, 1}));
}

TEST_F(JobAttempts, OfJobsThatTheStoreDoesNotKnowAreLeftAlone) {
  FakeHost& h0 = join("h0");
  h0.runners[{17, 1}];
  h0.says(started({17, 1}));
  settle();
  EXPECT_TRUE(h0.runners.at({17, 1}).alive);
}

TEST_F(JobAttempts, AFeederOfAnEndedJobIsNoAttempt) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  h0.event({id, 1}, {});
  h0.killRunner({id, 1});
  settle();
  ASSERT_EQ(job(id).end(), v1::END_FAILED);
  v1::LogsRequest request;
  *request.mutable_job() = ref(id);
  auto logs = core_->logs(callerOf("alice"), request, [] {});
  ASSERT_TRUE(logs.ok());
  static_cast<void>((*logs)->next());
  h0.says(started({id, 1}));  // as an agent says it of a feeder
  settle();
  EXPECT_TRUE(h0.runners.contains({id, 1}));
  EXPECT_TRUE((*logs)->next().has_value());
}

// Its records were read in part when its host went away, and came back without them.
TEST_F(JobAttempts, AJobWithRecordsIsNotStartedAgain) {
  FakeHost& h0 = join("h0");
  FakeHost& h1 = join("h1");
  const std::int64_t id = ordered(2, 2);
  FakeHost& first = job(id).hosts(0) == "h0" ? h0 : h1;
  first.loseConnection(false);
  first.runners[{id, 1}];
  first.event({id, 1}, {});
  first.killRunner({id, 1});
  ASSERT_TRUE(first.join(*core_).ok());
  loop_->runPosted();
  first.pump(3);
  ASSERT_EQ(job(id).last_sequence(), 1);
  EXPECT_TRUE(job(id).has_started());
  first.loseConnection();
  first.runners.clear();
  ASSERT_TRUE(first.join(*core_).ok());
  settle();
  EXPECT_EQ(job(id).end(), v1::END_FAILED) << job(id).reason();
  EXPECT_TRUE(h0.starts.empty() && h1.starts.empty());
}

// The others may still run instances.
TEST_F(JobAttempts, ALostFeederIsNoRefusalOfTheJob) {
  FakeHost& h0 = join("h0");
  FakeHost& h1 = join("h1");
  const std::int64_t id = ordered(2, 2);
  const bool is_h0 = job(id).hosts(0) == "h0";
  FakeHost& first = is_h0 ? h0 : h1;
  FakeHost& other = is_h0 ? h1 : h0;
  for (const v1::HostOrder& order : first.channel()->orders) {
    if (order.has_start()) other.agents_of.insert(order.start().agent_job_id());
  }
  first.loseConnection(false);
  first.runners[{id, 1}];
  first.event({id, 1}, {});
  first.killRunner({id, 1});
  ASSERT_TRUE(first.join(*core_).ok());
  loop_->runPosted();
  first.pump(3);
  ASSERT_EQ(job(id).last_sequence(), 1);
  first.says(refused({id, 1}, Code::kUnavailable));
  settle();
  EXPECT_EQ(job(id).state(), v1::JOB_ENDING) << job(id).reason();
  other.agents_of.clear();
  advance(seconds(2));
  EXPECT_EQ(job(id).end(), v1::END_FAILED) << job(id).reason();
}

// Nobody has cancelled it: until its other hosts have proved its end, its own host's words change nothing.
TEST_F(JobAttempts, ALostJobWithoutRecordsIsNoCancelledOne) {
  FakeHost& h0 = join("h0");
  FakeHost& h1 = join("h1");
  const std::int64_t id = ordered(2, 2);
  const bool is_h0 = job(id).hosts(0) == "h0";
  FakeHost& first = is_h0 ? h0 : h1;
  FakeHost& other = is_h0 ? h1 : h0;
  for (const v1::HostOrder& order : first.channel()->orders) {
    if (order.has_start()) other.agents_of.insert(order.start().agent_job_id());
  }
  first.loseConnection(false);
  first.runners[{id, 1}].alive = false;
  ASSERT_TRUE(first.join(*core_).ok());
  loop_->runPosted();
  first.says(refused({id, 1}, Code::kDataLoss));
  loop_->runPosted();
  EXPECT_EQ(job(id).state(), v1::JOB_ENDING) << job(id).reason();
  first.loseConnection();
  first.runners.clear();
  ASSERT_TRUE(first.join(*core_).ok());
  settle();
  EXPECT_EQ(job(id).state(), v1::JOB_ENDING) << job(id).reason();
  other.agents_of.clear();
  advance(seconds(2));
  EXPECT_EQ(job(id).end(), v1::END_FAILED) << job(id).reason();
  EXPECT_NE(job(id).reason(), "");
}

TEST_F(JobAttempts, RecordsThatCannotBeReadDoNotStartAJobAgain) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = ordered();
  h0.loseConnection(false);
  h0.runners[{id, 1}];
  h0.killRunner({id, 1});
  h0.refuses = unavailable("the agent service there is being stopped");
  ASSERT_TRUE(h0.join(*core_).ok());
  settle();
  EXPECT_EQ(job(id).state(), v1::JOB_STARTING) << "it is asked again";
  advance(seconds(11));
  EXPECT_EQ(job(id).end(), v1::END_FAILED);
  EXPECT_NE(job(id).reason().find("being stopped"), std::string::npos) << job(id).reason();
}

// As a service that is being stopped.
TEST_F(JobAttempts, AHostThatCannotServeRecordsNowIsAskedAgain) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = ordered();
  h0.loseConnection(false);
  h0.runners[{id, 1}].alive = false;
  h0.refuses = unavailable("the agent service there is being stopped");
  ASSERT_TRUE(h0.join(*core_).ok());
  settle();
  advance(seconds(3));
  EXPECT_EQ(job(id).state(), v1::JOB_STARTING) << job(id).reason();
  h0.refuses = {};
  h0.loseConnection();
  h0.runners.clear();
  join("h0");
  settle();
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING) << job(id).reason();
  EXPECT_EQ(h0.starts, (std::map<RunnerId, int>{{{id, 2}, 1}}));
}

TEST_F(JobAttempts, AJobWhoseRecordsWereNotToBeHadAtFirstEndsByThem) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = ordered();
  h0.loseConnection(false);
  h0.runners[{id, 1}];
  h0.finish({id, 1}, 7);
  h0.killRunner({id, 1});
  h0.refuses = unavailable("the process of this job there is just ending");
  ASSERT_TRUE(h0.join(*core_).ok());
  settle();
  h0.refuses = {};
  advance(seconds(2));
  EXPECT_EQ(job(id).end(), v1::END_FAILED) << job(id).reason();
  EXPECT_EQ(job(id).outcome().exit_code(), 7);
}

TEST_F(JobAttempts, TheNextOneIsFollowedWhereTheLastWasRead) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = ordered();
  h0.loseConnection(false);
  h0.runners[{id, 1}].alive = false;
  ASSERT_TRUE(h0.join(*core_).ok());  // its records are asked for
  h0.loseConnection();
  h0.runners.clear();
  join("h0");
  ASSERT_EQ(job(id).attempt(), 2);
  h0.finish({id, 2}, 7);
  settle();
  EXPECT_EQ(job(id).outcome().exit_code(), 7);
}

TEST_F(JobAttempts, AnAttemptThatDiedBeforeItsFirstRecordGoesFromItsHost) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = ordered();
  killDaemon();
  h0.runners[{id, 1}].alive = false;
  startDaemon();
  join("h0");
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
  EXPECT_EQ(h0.starts, (std::map<RunnerId, int>{{{id, 2}, 1}}));
  EXPECT_FALSE(h0.runners.contains({id, 1}));
}

// Its connection is the same all the time.
TEST_F(JobAttempts, OfALostJobIsKilledWhenItsHostSpeaksAgain) {
  FakeHost& h0 = join("h0");
  v1::SubmitRequest request = requestOf();
  request.set_lost_after_ms(20000);
  const std::int64_t id = submit(request);
  h0.is_slow = true;
  advance(seconds(22));
  ASSERT_EQ(job(id).end(), v1::END_LOST);
  h0.catchUp();
  settle();
  if (!h0.isJoined()) join("h0");
  EXPECT_FALSE(h0.runners.at({id, 1}).alive);
}

// A store of before may have a job that waits with the number of its last attempt taken back.
TEST_F(JobAttempts, AStoreOfBeforeCanBeRead) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = ordered();
  Result<std::vector<v1::JobRecord>> stored = store_->jobs();
  ASSERT_TRUE(stored.ok());
  v1::JobRecord& record = stored->front();
  record.mutable_info()->set_state(v1::JOB_QUEUED);
  record.mutable_info()->set_attempt(0);
  record.mutable_info()->clear_hosts();
  ASSERT_TRUE(store_->putJob(record).ok());
  ASSERT_TRUE(store_->commit().ok());
  restart();
  join("h0");
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
  EXPECT_EQ(h0.starts, (std::map<RunnerId, int>{{{id, 1}, 1}}));
}

}  // namespace
}  // namespace pop::popdistd::testing
