// SPDX-License-Identifier: Apache-2.0
// The life of a job under the daemon: from submission over its runner's events to its end.
#include <csignal>

#include "popdistd/api/job_wait.h"
#include "tests/unit/popdistd/jobs/cluster_fixture.h"

namespace pop::popdistd::testing {
namespace {

class JobLivesTest : public ClusterTest {
 protected:
  static v1::JobEvent instanceEvent(v1::EventKind kind) {
    v1::JobEvent event;
    event.mutable_log()->set_kind(kind);
    event.mutable_log()->set_instance(0);
    return event;
  }
};

TEST_F(JobLivesTest, AJobRunsAndEndsAsItsOutcomeSays) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  const RunnerId runner{id, 1};
  ASSERT_TRUE(h0.runners.contains(runner));
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
  EXPECT_EQ(job(id).hosts(0), "h0");
  EXPECT_EQ(h0.runners.at(runner).start.user(), "alice");

  h0.event(runner, instanceEvent(v1::EVENT_INSTANCE_STARTED));
  settle();
  EXPECT_EQ(job(id).instances_running(), 1);
  h0.emit(runner, kOutputRecord, "");
  h0.finish(runner, 3);
  settle();
  const v1::JobInfo ended = job(id);
  EXPECT_EQ(ended.state(), v1::JOB_ENDED);
  EXPECT_EQ(ended.end(), v1::END_FAILED);
  EXPECT_EQ(ended.outcome().exit_code(), 3);
  EXPECT_TRUE(h0.runners.at(runner).retired);
  const auto events = store_->events(id, 1, 100);
  ASSERT_EQ(events.value().size(), 2U);  // not the output
  EXPECT_EQ(events.value()[1].sequence, 3U);
}

TEST_F(JobLivesTest, WaitAnswersAtTheEnd) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  Answer<v1::JobInfo> end;
  const auto waits = waitForJob(*core_, {"bob", ""}, ref(id), end.reply());
  settle();
  EXPECT_FALSE(end.there());
  h0.finish({id, 1}, 0);
  settle();
  ASSERT_TRUE(end.there());
  EXPECT_EQ(end.value().end(), v1::END_SUCCEEDED);
}

TEST_F(JobLivesTest, TheSameRequestIsTheSameJob) {
  join("h0");
  v1::SubmitRequest request = requestOf();
  request.set_request_id("r1");
  const Answer<v1::SubmitReply> first = trySubmit(request);
  const Answer<v1::SubmitReply> again = trySubmit(request);
  EXPECT_EQ(first.value().job().id(), again.value().job().id());
  EXPECT_TRUE(again.value().repeated_request());
  const Answer<v1::SubmitReply> of_another_user = trySubmit(request, "bob");
  EXPECT_NE(first.value().job().id(), of_another_user.value().job().id());
  request.set_priority(-1);
  EXPECT_EQ(trySubmit(request).code(), Code::kAlreadyExists);
}

TEST_F(JobLivesTest, EveryMistakeInARequestIsNamed) {
  v1::SubmitRequest request = requestOf();
  request.set_name("17");
  request.set_log_limit_bytes(1);
  request.mutable_spec()->mutable_programs(0)->set_working_directory("here");
  const Answer<v1::SubmitReply> answer = trySubmit(request);
  EXPECT_EQ(answer.code(), Code::kInvalidArgument);
  for (const char* const part : {"name '17'", "log_limit_bytes"})
    EXPECT_NE(answer.words().find(part), std::string::npos) << answer.words();
  EXPECT_EQ(trySubmit({}).code(), Code::kInvalidArgument);
}

TEST_F(JobLivesTest, AJobThatWaitsIsCancelledAtOnce) {
  const std::int64_t id = submit(requestOf());
  EXPECT_EQ(job(id).state(), v1::JOB_QUEUED);
  EXPECT_NE(job(id).reason().find("no host has joined"), std::string::npos);
  EXPECT_EQ(cancel(id).value().end(), v1::END_CANCELLED);
  EXPECT_EQ(cancel(id).value().end(), v1::END_CANCELLED);  // legal in every state
  FakeHost& h0 = join("h0");
  EXPECT_TRUE(h0.runners.empty());
}

TEST_F(JobLivesTest, ARunningJobIsToldOncePerCancel) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  const RunnerId runner{id, 1};
  EXPECT_EQ(cancel(id).value().state(), v1::JOB_ENDING);
  EXPECT_EQ(h0.runners.at(runner).stops, std::set<int>{1});
  h0.loseConnection();
  settle();
  join("h0");
  EXPECT_EQ(h0.runners.at(runner).stops, std::set<int>{1});  // told again, by its number
  cancel(id);
  EXPECT_EQ(h0.runners.at(runner).stops, (std::set<int>{1, 2}));
  h0.finish(runner, 143);
  settle();
  EXPECT_EQ(job(id).end(), v1::END_CANCELLED);
  EXPECT_EQ(job(id).outcome().exit_code(), 143);
}

TEST_F(JobLivesTest, OnlyItsOwnerAndAdminsControlAJob) {
  join("h0");
  const std::int64_t id = submit(requestOf());
  EXPECT_EQ(cancel(id, "bob").code(), Code::kPermissionDenied);
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
  EXPECT_EQ(cancel(id, "root").code(), Code::kOk);
}

TEST_F(JobLivesTest, SignalsReachARunningJobOnly) {
  const std::int64_t id = submit(requestOf());
  v1::SignalRequest request;
  *request.mutable_job() = ref(id);
  request.set_signal(SIGUSR1);
  Answer<v1::JobInfo> waiting;
  core_->signal({"alice", ""}, request, waiting.reply());
  EXPECT_EQ(waiting.code(), Code::kFailedPrecondition);
  FakeHost& h0 = join("h0");
  Answer<v1::JobInfo> running;
  core_->signal({"alice", ""}, request, running.reply());
  settle();
  EXPECT_EQ(running.code(), Code::kOk);
  EXPECT_EQ(h0.runners.at({id, 1}).signals, std::vector<int>{SIGUSR1});
}

TEST_F(JobLivesTest, AHeldJobWaitsForItsRelease) {
  FakeHost& h0 = join("h0");
  v1::SubmitRequest request = requestOf();
  request.set_held(true);
  const std::int64_t id = submit(request);
  EXPECT_EQ(job(id).state(), v1::JOB_HELD);
  EXPECT_TRUE(h0.runners.empty());
  Answer<v1::JobInfo> released;
  core_->release({"alice", ""}, ref(id), released.reply());
  settle();
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
}

// The plan that is made while it is held has fewer reasons than the one it waited with.
TEST_F(JobLivesTest, AReleasedJobHasNoReasonOfAnEarlierPlan) {
  join("h0", 2);
  submit(requestOf(1));
  const std::int64_t waits = submit(requestOf(2));
  EXPECT_NE(job(waits).reason().find("it needs 2 slots"), std::string::npos) << job(waits).reason();
  Answer<v1::JobInfo> held;
  core_->hold(callerOf("alice"), ref(waits), held.reply());
  settle();
  submit(requestOf(1));
  Answer<v1::JobInfo> released;
  core_->release(callerOf("alice"), ref(waits), released.reply());
  EXPECT_EQ(job(waits).reason(), "it has not been looked at yet") << "before the next plan";
  settle();
  ASSERT_EQ(released.code(), Code::kOk);
  EXPECT_NE(job(waits).reason().find("it needs 2 slots"), std::string::npos) << job(waits).reason();
}

TEST_F(JobLivesTest, ACoreCanGoWhileItsLoopRunsOn) {
  join("h0");
  core_->submit(callerOf("alice"), requestOf(), [](const auto&) { FAIL() << "it was not stored"; });
  core_ = nullptr;  // with a commit and a plan that are posted
  for (auto& [name, host] : hosts_) host.loseConnection(false);
  loop_->runPosted();
  loop_->advance(seconds(20));
  EXPECT_EQ(loop_->armedTimers(), 0U);
}

TEST_F(JobLivesTest, AHostThatRefusesIsLeftOut) {
  FakeHost& a = join("a");
  a.refuses = {Code::kPermissionDenied, "'alice' is not in the users file"};
  FakeHost& b = join("b", 1);
  const std::int64_t id = submit(requestOf());
  EXPECT_EQ(job(id).hosts(0), "b");
  EXPECT_EQ(b.runners.size(), 1U);
}

TEST_F(JobLivesTest, TheOnlyHostIsAskedAgainThoughItHasRefused) {
  FakeHost& a = join("a");
  a.refuses = {Code::kUnavailable, "its runner was killed"};
  a.refuses = {Code::kPermissionDenied, "'alice' is not in the users file"};
  const std::int64_t ended = submit(requestOf());
  EXPECT_EQ(job(ended).state(), v1::JOB_QUEUED);
  EXPECT_NE(job(ended).reason().find("not in the users file"), std::string::npos) << job(ended).reason();
  advance(seconds(4));
  EXPECT_EQ(job(ended).end(), v1::END_FAILED) << "at the third refusal";
  EXPECT_EQ(job(ended).attempt(), 3);
  EXPECT_NE(job(ended).reason().find("not in the users file"), std::string::npos);
}

TEST_F(JobLivesTest, ABrokenHostDoesNotEatTheQueue) {
  FakeHost& a = join("a", 1);
  a.refuses = {Code::kUnavailable, "there is no space on the disk"};
  std::vector<std::int64_t> jobs;
  for (int i = 0; i < 300; ++i) jobs.push_back(submit(requestOf()));
  advance(std::chrono::minutes(10));
  int attempts = 0;
  for (const std::int64_t id : jobs) {
    EXPECT_EQ(job(id).state(), v1::JOB_QUEUED) << job(id).reason();
    EXPECT_NE(job(id).reason().find("no space on the disk"), std::string::npos) << job(id).reason();
    attempts += job(id).attempt();
  }
  EXPECT_LT(attempts, 15) << "each pause is longer than the one before";
  EXPECT_GT(attempts, 8);

  a.refuses = {};
  Answer<v1::HostInfo> resumed;
  v1::HostRef host;
  host.set_name("a");
  core_->resume(callerOf("root"), host, resumed.reply());
  advance(seconds(11));
  EXPECT_EQ(std::count_if(jobs.begin(), jobs.end(),
                          [&](std::int64_t id) { return job(id).state() == v1::JOB_RUNNING; }),
            1)
      << "by hand it is tried at once";
}

TEST_F(JobLivesTest, AHostThatRefusesOneUserHasRoomForOthers) {
  FakeHost& a = join("a");
  a.refuses = {Code::kUnavailable, "the home of 'alice' is not there"};
  const std::int64_t of_alice = submit(requestOf());
  a.refuses = {};
  EXPECT_EQ(job(submit(requestOf(), "bob")).state(), v1::JOB_RUNNING);
  EXPECT_EQ(job(of_alice).state(), v1::JOB_QUEUED);
  advance(seconds(2));
  EXPECT_EQ(job(of_alice).state(), v1::JOB_RUNNING);
}

// Others start there meanwhile, so it is not the host.
TEST_F(JobLivesTest, AJobThatAHostRefusesWhileItStartsOthersFailsAtLast) {
  FakeHost& a = join("a", 100);
  const std::int64_t bad = [&] {
    a.refuses = {Code::kUnavailable, "its runner was killed"};
    return submit(requestOf());
  }();
  for (int i = 0; i < 6; ++i) {
    a.refuses = {};
    submit(requestOf(), "bob");
    a.refuses = {Code::kUnavailable, "its runner was killed"};
    advance(seconds(20));
  }
  EXPECT_EQ(job(bad).end(), v1::END_FAILED) << job(bad).reason();
}

TEST_F(JobLivesTest, AHostUnderAnotherNameIsNamedAndLeftAlone) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  h0.loseConnection();
  FakeHost& renamed = hosts_.try_emplace("h9", "h9", 4).first->second;
  renamed.runners = h0.runners;
  renamed.cluster_id = h0.cluster_id;
  EXPECT_TRUE(renamed.join(*core_).ok());
  settle();
  EXPECT_TRUE(renamed.runners.at({id, 1}).alive) << "it goes on";
  advance(seconds(20));
  ASSERT_EQ(job(id).conditions_size(), 1);
  EXPECT_NE(job(id).conditions(0).find("--name h0"), std::string::npos) << job(id).conditions(0);
  renamed.loseConnection();
  join("h0");
  advance(seconds(2));
  EXPECT_EQ(job(id).conditions_size(), 0);
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
}

TEST_F(JobLivesTest, ANamedHostThatRefusesEndsTheJob) {
  FakeHost& a = join("a");
  a.refuses = {Code::kPermissionDenied, "'alice' is not in the users file"};
  v1::SubmitRequest request = requestOf();
  request.mutable_spec()->add_hosts()->set_name("a");
  const std::int64_t id = submit(request);
  EXPECT_EQ(job(id).end(), v1::END_FAILED);
  EXPECT_NE(job(id).reason().find("users file"), std::string::npos);
}

TEST_F(JobLivesTest, AKilledRunnersJobFailsAfterItsRecordsWereRead) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  h0.event({id, 1}, instanceEvent(v1::EVENT_INSTANCE_STARTED));
  h0.killRunner({id, 1});
  settle();
  EXPECT_EQ(job(id).end(), v1::END_FAILED);
  EXPECT_NE(job(id).reason().find("runner on host h0 was killed"), std::string::npos);
  EXPECT_EQ(store_->events(id, 1, 100).value().size(), 1U);
}

TEST_F(JobLivesTest, AKilledRunnersOutcomeCounts) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  v1::JobEvent outcome;
  outcome.mutable_outcome();
  h0.runners.at({id, 1}).streams.clear();  // the daemon does not hear of it
  h0.event({id, 1}, outcome);
  h0.killRunner({id, 1});
  settle();
  EXPECT_EQ(job(id).end(), v1::END_SUCCEEDED);
}

TEST_F(JobLivesTest, TheEndOfALostJobIsProvedByItsOtherHosts) {
  FakeHost& a = join("a");
  FakeHost& b = join("b");
  v1::SubmitRequest request = requestOf(2);
  request.set_num_hosts(2);
  const std::int64_t id = submit(request);
  const v1::StartRunner start = a.runners.at({id, 1}).start;
  EXPECT_EQ(start.credentials().certificate_pem(), "of " + start.agent_job_id() + " of alice");
  EXPECT_EQ(start.agent_port(), 7571);
  b.agents_of.insert(start.agent_job_id());
  a.killRunner({id, 1});
  settle();
  advance(seconds(3));
  EXPECT_EQ(job(id).state(), v1::JOB_ENDING);
  b.agents_of.clear();
  advance(seconds(2));
  EXPECT_EQ(job(id).end(), v1::END_FAILED);
}

TEST_F(JobLivesTest, ASilentHostsJobIsUnreachableAndThenLost) {
  FakeHost& h0 = join("h0");
  v1::SubmitRequest request = requestOf();
  request.set_lost_after_ms(120000);
  const std::int64_t id = submit(request);
  h0.loseConnection();
  advance(seconds(30));
  EXPECT_EQ(host("h0").state(), v1::HOST_SILENT);
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
  EXPECT_EQ(job(id).conditions_size(), 1);
  advance(seconds(100));
  EXPECT_EQ(host("h0").state(), v1::HOST_DOWN);
  EXPECT_EQ(job(id).end(), v1::END_LOST);
  join("h0");
  EXPECT_FALSE(h0.runners.at({id, 1}).alive);  // nothing is left of what counts as lost
}

TEST_F(JobLivesTest, AReturningHostsJobGoesOn) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  h0.loseConnection();
  advance(seconds(30));
  h0.finish({id, 1}, 0);
  join("h0");
  EXPECT_EQ(job(id).end(), v1::END_SUCCEEDED);
  EXPECT_TRUE(h0.runners.at({id, 1}).retired);
}

TEST_F(JobLivesTest, AnOrderThatWasLostIsGivenAgain) {
  FakeHost& h0 = join("h0");
  Answer<v1::SubmitReply> answer;
  core_->submit({"alice", ""}, requestOf(), answer.reply());
  loop_->runPosted();
  h0.loseConnection();  // with the order in it
  settle();
  join("h0");
  const std::int64_t id = answer.value().job().id();
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
  EXPECT_EQ(h0.starts, (std::map<RunnerId, int>{{{id, 2}, 1}})) << "once, and under a number of its own";
}

TEST_F(JobLivesTest, AHostWithoutTheJobsRecordsEndsIt) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  h0.loseConnection();
  h0.runners.clear();  // as after a reboot with its disk lost
  settle();
  join("h0");
  EXPECT_EQ(job(id).end(), v1::END_FAILED);
}

TEST_F(JobLivesTest, ForgottenJobsGoFromTheirHosts) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  Answer<v1::Nothing> too_early;
  core_->forget({"alice", ""}, ref(id), too_early.reply());
  EXPECT_EQ(too_early.code(), Code::kFailedPrecondition);
  h0.finish({id, 1}, 0);
  settle();
  h0.loseConnection();
  Answer<v1::Nothing> forgotten;
  core_->forget({"alice", ""}, ref(id), forgotten.reply());
  settle();
  EXPECT_EQ(forgotten.code(), Code::kOk);
  join("h0");
  EXPECT_EQ(h0.removed, 1);
  EXPECT_EQ(submit(requestOf()), id + 1);  // its number is not used again
}

}  // namespace
}  // namespace pop::popdistd::testing
