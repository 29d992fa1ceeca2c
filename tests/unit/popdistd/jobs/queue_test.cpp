// SPDX-License-Identifier: Apache-2.0
// The queue as users and admins see it: expected times, quotas, allocations, fair shares; and what of it a
// daemon's end must not take away. The rules themselves: tests/unit/popdistd/queue.
#include "popdistd/jobs/table/quota_table.h"
#include "tests/unit/popdistd/jobs/cluster_fixture.h"

namespace pop::popdistd::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class QueueTest : public ClusterTest {
 protected:
  static v1::SubmitRequest limited(int num_instances, milliseconds limit) {
    v1::SubmitRequest request = requestOf(num_instances);
    request.mutable_spec()->set_timeout_ms(limit.count());
    request.mutable_spec()->set_kill_grace_ms(1000);
    return request;
  }
  static v1::QuotaInfo quotaOf(const std::string& name, v1::QuotaKind kind = v1::QUOTA_USER) {
    v1::QuotaInfo quota;
    quota.mutable_of()->set_kind(kind);
    quota.mutable_of()->set_name(name);
    return quota;
  }
  Answer<v1::QuotaInfo> set(const v1::QuotaInfo& quota, const std::string& user = "root") {
    Answer<v1::QuotaInfo> answer;
    core_->setQuota(callerOf(user), quota, answer.reply());
    settle();
    return answer;
  }
  std::vector<v1::QuotaInfo> quotas(const std::string& user = "root") {
    Answer<v1::ListQuotasReply> answer;
    core_->listQuotas(callerOf(user), {}, answer.reply());
    return {answer.value().quotas().begin(), answer.value().quotas().end()};
  }
  void restart() {
    killDaemon();
    startDaemon();
    settle();
  }
  bool runs(std::int64_t id) { return job(id).state() == v1::JOB_RUNNING; }
};

TEST_F(QueueTest, OfEachUserABoundedNumberOfJobsWaits) {
  QuotaTable quotas(*store_, core_->commits());
  EXPECT_EQ(quotas.ofUser("alice").queued_jobs, kUsualQueuedJobs);
  v1::QuotaInfo quota = quotaOf("*");
  quota.set_running_jobs(4);
  ASSERT_TRUE(quotas.set(quota).ok());
  EXPECT_EQ(quotas.ofUser("alice").queued_jobs, kUsualQueuedJobs);
  quota.set_queued_jobs(50'000);
  ASSERT_TRUE(quotas.set(quota).ok());
  EXPECT_EQ(quotas.ofUser("alice").queued_jobs, 50'000) << "an admin says another number";
  settle();
}

TEST_F(QueueTest, NobodyFillsTheMemoryWithJobs) {
  v1::SubmitRequest request = requestOf();
  std::string& word = *request.mutable_spec()->mutable_programs(0)->add_command();
  word.assign(std::size_t{5} << 20, 'x');
  EXPECT_EQ(trySubmit(request).code(), Code::kInvalidArgument);
  word.resize(std::size_t{3} << 20);
  const std::int64_t first = submit(request);
  for (int i = 1; i < 21; ++i) submit(request);
  EXPECT_EQ(trySubmit(request).code(), Code::kResourceExhausted);
  EXPECT_EQ(trySubmit(request, "bob").code(), Code::kOk);
  cancel(first);
  EXPECT_EQ(trySubmit(request).code(), Code::kOk);
}

TEST_F(QueueTest, AWaitingJobHasItsReasonAndItsTime) {
  join("h0", 4);
  const std::int64_t first = submit(limited(4, minutes(10)));
  const std::int64_t second = submit(limited(4, minutes(5)));
  const std::int64_t third = submit(limited(2, minutes(5)));
  EXPECT_EQ(job(second).wait_cause(), v1::WAIT_SLOTS);
  const std::int64_t begun = job(first).started().seconds();
  EXPECT_EQ(job(second).expected_start().seconds(), begun + 601);
  EXPECT_EQ(job(third).expected_start().seconds(), begun + 601 + 301);
  cancel(first);
  hosts_.at("h0").finish({first, 1}, 0);
  settle();
  EXPECT_TRUE(runs(second));
  EXPECT_FALSE(job(second).has_expected_start());
  EXPECT_EQ(job(second).wait_cause(), v1::WAIT_NONE);
}

TEST_F(QueueTest, ShortJobsStartWhileALargeOneWaits) {
  join("h0", 4);
  submit(limited(2, minutes(10)));
  const std::int64_t large = submit(limited(4, minutes(10)));
  const std::int64_t too_long = submit(limited(2, minutes(11)));
  const std::int64_t short_one = submit(limited(2, minutes(9)));
  EXPECT_EQ(job(large).state(), v1::JOB_QUEUED);
  EXPECT_EQ(job(too_long).wait_cause(), v1::WAIT_BEHIND);
  EXPECT_NE(job(too_long).reason().find("job " + std::to_string(large)), std::string::npos)
      << job(too_long).reason();
  EXPECT_TRUE(runs(short_one));
}

// ---- quotas

TEST_F(QueueTest, AQuotaHoldsFromThenOnAndAfterARestart) {
  join("h0", 8);
  v1::QuotaInfo quota = quotaOf("alice");
  quota.set_running_jobs(1);
  quota.set_queued_jobs(1);
  EXPECT_EQ(set(quota, "alice").code(), Code::kPermissionDenied);
  ASSERT_EQ(set(quota).code(), Code::kOk);
  restart();
  join("h0", 8);
  const std::int64_t first = submit(requestOf());
  const std::int64_t second = submit(requestOf());
  EXPECT_TRUE(runs(first));
  EXPECT_EQ(job(second).wait_cause(), v1::WAIT_QUOTA);
  EXPECT_EQ(job(second).reason(), "quota: user alice has 1 of 1 job running");
  EXPECT_EQ(trySubmit(requestOf()).code(), Code::kResourceExhausted);
  EXPECT_TRUE(runs(submit(requestOf(), "bob")));
  ASSERT_EQ(quotas().size(), 1U);
  EXPECT_EQ(quotas()[0].use().running_jobs(), 1);
  EXPECT_EQ(quotas()[0].use().queued_jobs(), 1);
  EXPECT_EQ(quotas("bob").size(), 0U);
  hosts_.at("h0").finish({first, 1}, 0);
  settle();
  EXPECT_TRUE(runs(second));
}

TEST_F(QueueTest, TheQuotaOfEachUserIsForThoseWithoutOne) {
  join("h0", 8);
  v1::QuotaInfo each = quotaOf("*");
  each.set_instances(2);
  ASSERT_EQ(set(each).code(), Code::kOk);
  v1::QuotaInfo own = quotaOf("bob");
  own.set_instances(4);
  ASSERT_EQ(set(own).code(), Code::kOk);
  EXPECT_EQ(trySubmit(requestOf(3)).code(), Code::kFailedPrecondition);
  EXPECT_TRUE(runs(submit(requestOf(3), "bob")));
  Answer<v1::Nothing> removed;
  core_->removeQuota(callerOf("root"), each.of(), removed.reply());
  settle();
  EXPECT_EQ(removed.code(), Code::kOk);
  EXPECT_TRUE(runs(submit(requestOf(3))));
}

TEST_F(QueueTest, AWrongQuotaIsRefusedWithEachMistake) {
  v1::QuotaInfo quota = quotaOf("");
  quota.set_instances(-1);
  const Answer<v1::QuotaInfo> answer = set(quota);
  EXPECT_EQ(answer.code(), Code::kInvalidArgument);
  EXPECT_NE(answer.words().find("instances"), std::string::npos);
  EXPECT_NE(answer.words().find("of.name"), std::string::npos);
  EXPECT_EQ(set(quotaOf("alice")).code(), Code::kInvalidArgument);  // limits nothing
  v1::QuotaInfo unknown = quotaOf("nowhere", v1::QUOTA_ALLOCATION);
  unknown.set_ipus(1);
  EXPECT_EQ(set(unknown).code(), Code::kNotFound);
}

// ---- allocations

TEST_F(QueueTest, AJobOfAnAllocationRunsOnItsHostsUnderItsQuota) {
  join("other", 8);
  join("pod", 4);
  ASSERT_TRUE(core_->pods().addDefaultInventory("pod").ok());
  settle();
  v1::SubmitRequest request = requestOf(2);
  request.set_allocation("nowhere");
  EXPECT_EQ(trySubmit(request).code(), Code::kNotFound);
  request.set_allocation("default");
  const std::int64_t first = submit(request);
  ASSERT_TRUE(runs(first));
  EXPECT_EQ(job(first).hosts(0), "pod");
  EXPECT_EQ(job(first).allocation(), "default");
  v1::QuotaInfo quota = quotaOf("default", v1::QUOTA_ALLOCATION);
  quota.set_instances(3);
  ASSERT_EQ(set(quota).code(), Code::kOk);
  const std::int64_t second = submit(request);
  EXPECT_EQ(job(second).reason(), "quota: allocation default uses 2 of 3 instances, and it needs 2");
  EXPECT_TRUE(runs(submit(requestOf(2))));  // of none
}

// ---- fair shares

TEST_F(QueueTest, WhoHasUsedLittleGoesFirstAlsoAfterARestart) {
  queue_rules_.fair_share = true;
  restart();
  join("h0", 4);
  const std::int64_t past = submit(requestOf(4), "alice");
  advance(minutes(5));
  hosts_.at("h0").finish({past, 1}, 0);
  settle();
  restart();
  join("h0", 4);
  const std::int64_t runs_now = submit(requestOf(4), "carol");
  const std::int64_t of_alice = submit(requestOf(4), "alice");
  const std::int64_t of_bob = submit(requestOf(4), "bob");
  hosts_.at("h0").finish({runs_now, 1}, 0);
  settle();
  EXPECT_TRUE(runs(of_bob));
  EXPECT_EQ(job(of_alice).state(), v1::JOB_QUEUED);
}

// By 40 days, for a minute, while bob's job runs.
TEST_F(QueueTest, AJumpOfTheClockIsNoUse) {
  queue_rules_.fair_share = true;
  restart();
  join("h0", 4);
  const std::int64_t past = submit(requestOf(4), "alice");
  advance(minutes(5));
  hosts_.at("h0").finish({past, 1}, 0);
  settle();
  const std::int64_t short_one = submit(requestOf(4), "bob");
  wall_ += hours(24 * 40);
  advance(minutes(1));
  hosts_.at("h0").finish({short_one, 1}, 0);
  settle();
  wall_ -= hours(24 * 40);
  advance(minutes(1));
  const std::int64_t runs_now = submit(requestOf(4), "carol");
  const std::int64_t of_alice = submit(requestOf(4), "alice");
  const std::int64_t of_bob = submit(requestOf(4), "bob");
  hosts_.at("h0").finish({runs_now, 1}, 0);
  settle();
  EXPECT_TRUE(runs(of_bob)) << "a minute is less than five";
  EXPECT_EQ(job(of_alice).state(), v1::JOB_QUEUED);
}

}  // namespace
}  // namespace pop::popdistd::testing
