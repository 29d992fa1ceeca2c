// SPDX-License-Identifier: Apache-2.0
// Which job starts where, and what the others wait for.
#include "tests/unit/popdistd/jobs/cluster_fixture.h"

namespace pop::popdistd::testing {
namespace {

class SchedulingTest : public ClusterTest {
 protected:
  v1::HostInfo drain(const std::string& name, const std::string& user = "root") {
    v1::DrainRequest request;
    request.mutable_host()->set_name(name);
    request.set_reason("disk");
    Answer<v1::HostInfo> answer;
    core_->drain(callerOf(user), request, answer.reply());
    settle();
    code_ = answer.code();
    return answer.code() == Code::kOk ? answer.value() : v1::HostInfo();
  }

  Code code_ = Code::kOk;
};

TEST_F(SchedulingTest, JobsFillFreeSlots) {
  FakeHost& h0 = join("h0", 4);
  submit(requestOf(3));
  submit(requestOf(1));
  const std::int64_t waits = submit(requestOf(1));
  EXPECT_EQ(h0.runners.size(), 2U);
  EXPECT_EQ(job(waits).state(), v1::JOB_QUEUED);
  EXPECT_NE(job(waits).reason().find("0 of 4 are free"), std::string::npos) << job(waits).reason();
  EXPECT_EQ(host("h0").instances_running(), 4);
}

TEST_F(SchedulingTest, ALargeJobGetsAnIdleHostForItself) {
  FakeHost& h0 = join("h0", 4);
  const std::int64_t large = submit(requestOf(32));
  EXPECT_EQ(job(large).state(), v1::JOB_RUNNING);
  const std::int64_t small = submit(requestOf(1));
  EXPECT_EQ(job(small).state(), v1::JOB_QUEUED);
  h0.finish({large, 1}, 0);
  settle();
  EXPECT_EQ(job(small).state(), v1::JOB_RUNNING);
}

TEST_F(SchedulingTest, AJobThatWaitsIsNotOvertakenOnItsHosts) {
  FakeHost& h0 = join("h0", 4);
  const std::int64_t first = submit(requestOf(2));
  const std::int64_t large = submit(requestOf(8));  // needs the whole host
  advance(queue_rules_.backfill_age);
  const std::int64_t small = submit(requestOf(1));  // would fit
  EXPECT_EQ(job(large).state(), v1::JOB_QUEUED);
  EXPECT_EQ(job(small).state(), v1::JOB_QUEUED);
  h0.finish({first, 1}, 0);
  settle();
  EXPECT_EQ(job(large).state(), v1::JOB_RUNNING);
  EXPECT_EQ(job(small).state(), v1::JOB_QUEUED);
}

TEST_F(SchedulingTest, HigherPriorityGoesFirst) {
  v1::SubmitRequest urgent = requestOf(4);
  urgent.set_priority(5);
  EXPECT_EQ(trySubmit(urgent, "alice").code(), Code::kPermissionDenied);
  const std::int64_t usual = submit(requestOf(4));
  const std::int64_t first = submit(urgent, "root");
  join("h0", 4);
  EXPECT_EQ(job(first).state(), v1::JOB_RUNNING);
  EXPECT_EQ(job(usual).state(), v1::JOB_QUEUED);
}

TEST_F(SchedulingTest, TheEmptiestHostIsChosen) {
  join("a", 4);
  FakeHost& b = join("b", 4);
  submit(requestOf(2));
  submit(requestOf(2));
  EXPECT_EQ(b.runners.size(), 1U);
}

TEST_F(SchedulingTest, ADrainedHostTakesNoNewJobs) {
  FakeHost& h0 = join("h0");
  const std::int64_t runs = submit(requestOf());
  drain("h0", "alice");
  EXPECT_EQ(code_, Code::kPermissionDenied);
  EXPECT_TRUE(drain("h0").drained());
  const std::int64_t waits = submit(requestOf());
  EXPECT_EQ(job(runs).state(), v1::JOB_RUNNING);
  EXPECT_NE(job(waits).reason().find("h0 is drained: disk"), std::string::npos) << job(waits).reason();
  h0.loseConnection();
  join("h0");
  EXPECT_TRUE(host("h0").drained());  // it is a flag of its own
  v1::HostRef ref;
  ref.set_name("h0");
  Answer<v1::HostInfo> resumed;
  core_->resume(callerOf("root"), ref, resumed.reply());
  settle();
  EXPECT_EQ(job(waits).state(), v1::JOB_RUNNING);
}

TEST_F(SchedulingTest, AJobThatIsNotToWaitEnds) {
  v1::SubmitRequest request = requestOf();
  request.set_no_wait(true);
  const std::int64_t id = submit(request);
  EXPECT_EQ(job(id).end(), v1::END_FAILED);
}

TEST_F(SchedulingTest, NamedHostsAreTheJobs) {
  join("a");
  join("b");
  v1::SubmitRequest request = requestOf(2);
  request.mutable_spec()->add_hosts()->set_name("b");
  request.mutable_spec()->add_hosts()->set_name("c");
  const std::int64_t id = submit(request);
  EXPECT_NE(job(id).reason().find("host c has not joined"), std::string::npos) << job(id).reason();
  join("c");
  EXPECT_EQ(job(id).hosts(0), "b");
  EXPECT_EQ(job(id).hosts(1), "c");
}

TEST_F(SchedulingTest, AHostOfAnotherProtocolIsShownAndNotUsed) {
  FakeHost& h0 = hosts_.try_emplace("h0", "h0").first->second;
  v1::HostJoins joins = h0.joins();
  joins.set_protocol(99);
  EXPECT_TRUE(core_->joined(joins, "10.0.0.1", std::make_shared<FakeChannel>()).ok());
  const std::int64_t id = submit(requestOf());
  EXPECT_EQ(job(id).state(), v1::JOB_QUEUED);
  EXPECT_NE(job(id).reason().find("protocol 99"), std::string::npos) << job(id).reason();
}

TEST_F(SchedulingTest, ASecondHostOfANameIsRefused) {
  join("h0");
  FakeHost other("h0");
  other.boot_id = "boot2";
  EXPECT_EQ(other.join(*core_).code(), Code::kAlreadyExists);
}

TEST_F(SchedulingTest, ThousandsWaitWithoutBeingLookedAt) {
  join("h0", 1);
  submit(requestOf());
  for (int i = 0; i < 2000; ++i) {
    Answer<v1::SubmitReply> answer;
    core_->submit({"alice", ""}, requestOf(), answer.reply());
  }
  settle();
  EXPECT_FALSE(job(2001).reason().empty());
}

// There are 2,000 hosts, the last 600 with a reason of 3 KB: more than a page takes.
TEST_F(SchedulingTest, AListOfHostsComesInPages) {
  constexpr int kHosts = 2000;
  const auto name = [](int number) { return "h" + std::to_string(10'000 + number); };
  for (int host = 0; host < kHosts; ++host) join(name(host));
  for (int host = kHosts - 600; host < kHosts; ++host) {
    v1::DrainRequest request;
    request.mutable_host()->set_name(name(host));
    request.set_reason(std::string(3000, 'x'));
    Answer<v1::HostInfo> answer;
    core_->drain(callerOf("root"), request, answer.reply());
  }
  settle();
  for (const std::int32_t page_size : {0, 700}) {
    v1::ListHostsRequest request;
    request.set_page_size(page_size);
    int pages = 0;
    int listed = 0;
    do {
      Answer<v1::ListHostsReply> answer;
      core_->listHosts(callerOf("alice"), request, answer.reply());
      const v1::ListHostsReply page = answer.value();
      EXPECT_LT(page.ByteSizeLong(), std::size_t{1100} * 1024);
      EXPECT_LE(page.hosts_size(), page_size > 0 ? page_size : kHosts);
      for (const v1::HostInfo& each : page.hosts()) ASSERT_EQ(each.name(), name(listed++));
      request.set_page_token(page.next_page_token());
      ++pages;
    } while (!request.page_token().empty());
    EXPECT_EQ(listed, kHosts);
    EXPECT_GT(pages, page_size == 0 ? 1 : 2);
  }
  v1::ListHostsRequest wrong;
  wrong.set_page_size(-1);
  Answer<v1::ListHostsReply> answer;
  core_->listHosts(callerOf("alice"), wrong, answer.reply());
  EXPECT_EQ(answer.code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace pop::popdistd::testing
