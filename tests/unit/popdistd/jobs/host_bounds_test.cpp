// SPDX-License-Identifier: Apache-2.0
// One host says numbers and texts that no host has: the cluster goes on.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "common/base/text.h"
#include "tests/unit/popdistd/jobs/cluster_fixture.h"

namespace pop::popdistd::testing {
namespace {

constexpr std::int64_t kMostInt = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostExact = (std::int64_t{1} << 53) - 1;

class HostBoundsTest : public ClusterTest {
 protected:
  v1::AboutReply about() {
    Answer<v1::AboutReply> answer;
    core_->about(callerOf("root"), {}, answer.reply());
    return answer.value();
  }
  bool isWarnedOf(const std::string& words) {
    const v1::AboutReply reply = about();
    return std::any_of(reply.warnings().begin(), reply.warnings().end(),
                       [&](const auto& each) { return each.find(words) != std::string::npos; });
  }
  std::string cluster() { return about().cluster_id(); }

  /// As the host would, but with `change` to what it says.
  template <typename Change>
  Status joinAs(FakeHost& host, const Change& change) {
    v1::HostJoins joins = host.joins();
    joins.set_cluster_id(cluster());
    change(joins);
    const Status joined = core_->joined(joins, "10.0.0.9", std::make_shared<FakeChannel>());
    settle();
    return joined;
  }
  template <typename Change>
  static void said(FakeHost& host, const RunnerId& runner, const Change& change) {
    v1::JobEvent event;
    change(event);
    host.event(runner, event);
  }
};

TEST_F(HostBoundsTest, JobNumbersFarAboveAllThatIsKnownAreOrphans) {
  FakeHost& good = join("good");
  for (const std::int64_t number :
       {kMostInt, kMostInt - 2, kMostExact, kMostExact - 1, std::int64_t{1} << 40, std::int64_t{0},
        std::int64_t{-5}, std::numeric_limits<std::int64_t>::min()}) {
    FakeHost bad("bad");
    EXPECT_TRUE(joinAs(bad, [&](v1::HostJoins& joins) {
                  v1::HeldRunner& held = *joins.add_runners();
                  held.mutable_key()->set_job(number);
                  held.mutable_key()->set_attempt(1);
                  held.set_alive(true);
                }).ok());
    EXPECT_TRUE(isWarnedOf("job " + std::to_string(number) + " on host bad")) << number;
    for (int i = 0; i < 3; ++i) EXPECT_GT(submit(requestOf()), 0);
  }
  EXPECT_TRUE(good.isJoined());
  EXPECT_EQ(submit(requestOf()), 25) << "no number was passed over";
}

TEST_F(HostBoundsTest, ManyJoinsPassOverAMillionNumbersTogether) {
  join("good");
  for (int i = 1; i <= 5; ++i) {
    FakeHost bad("bad");
    static_cast<void>(
        joinAs(bad, [&](v1::HostJoins& joins) { joins.add_runners()->mutable_key()->set_job(900'000 * i); }));
  }
  const std::int64_t next = submit(requestOf());
  EXPECT_GT(next, 900'000);
  EXPECT_LT(next, 1'100'000);
}

TEST_F(HostBoundsTest, NoJobGetsTheNumberOfAnOrphan) {
  FakeHost bad("bad");
  static_cast<void>(joinAs(bad, [&](v1::HostJoins& joins) {
    joins.add_runners()->mutable_key()->set_job(1'000'000);
    joins.add_runners()->mutable_key()->set_job(1'000'002);
  }));
  EXPECT_EQ(submit(requestOf()), 1'000'001);
  EXPECT_EQ(submit(requestOf()), 1'000'003);
}

TEST_F(HostBoundsTest, AStoreWithANumberThatCannotBeHeals) {
  EXPECT_EQ(submit(requestOf()), 1);
  killDaemon();
  {
    auto store = SqliteStore::open(directory_.path() + "/state");
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE((*store)->putMeta("next_job_id", std::to_string(kMostInt)).ok());
    ASSERT_TRUE((*store)->commit().ok());
  }
  startDaemon();
  FakeHost& good = join("good");
  EXPECT_TRUE(isWarnedOf(std::to_string(kMostInt)));
  EXPECT_EQ(submit(requestOf()), 2);
  EXPECT_TRUE(good.isJoined());
}

TEST_F(HostBoundsTest, AnEpochOfTheFutureIsRefusedByName) {
  FakeHost& good = join("good");
  const std::uint64_t before = about().epoch();
  for (const std::uint64_t epoch : {std::numeric_limits<std::uint64_t>::max(), std::uint64_t{1} << 31,
                                    (std::uint64_t{1} << 31) - 1, before + 65'537}) {
    FakeHost bad("bad");
    const Status refused = joinAs(bad, [&](v1::HostJoins& joins) { joins.set_epoch(epoch); });
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << epoch;
    EXPECT_NE(refused.message().find("bad"), std::string::npos);
  }
  EXPECT_EQ(about().epoch(), before);
  for (std::uint64_t epoch = before; epoch < before + 200'000; epoch += 50'000) {
    FakeHost bad("bad");
    static_cast<void>(joinAs(bad, [&](v1::HostJoins& joins) { joins.set_epoch(epoch); }));
  }
  EXPECT_LE(about().epoch(), before + 65'537) << "however often it joins";
  EXPECT_TRUE(good.isJoined());
}

TEST_F(HostBoundsTest, CountsThatNoHostHasAreRefused) {
  using Change = void (*)(v1::HostJoins&);
  for (const Change change : std::initializer_list<Change>{
           [](v1::HostJoins& joins) { joins.set_slots(std::numeric_limits<int>::max()); },
           [](v1::HostJoins& joins) { joins.set_slots(-1); },
           [](v1::HostJoins& joins) { joins.set_num_cores(1 << 30); },
           [](v1::HostJoins& joins) { joins.set_num_memory_nodes(-7); },
           [](v1::HostJoins& joins) { joins.set_memory_bytes(std::numeric_limits<std::uint64_t>::max()); },
           [](v1::HostJoins& joins) { joins.set_agent_port(65536); },
           [](v1::HostJoins& joins) { joins.set_name(std::string(254, 'h')); }}) {
    FakeHost bad("bad");
    EXPECT_EQ(joinAs(bad, change).code(), Code::kInvalidArgument);
  }
  FakeHost strange("strange");
  EXPECT_TRUE(joinAs(strange, [](v1::HostJoins& joins) {
                joins.set_clock_ms(std::numeric_limits<std::int64_t>::min());
                joins.set_version(std::string(100'000, 'v'));
                joins.set_boot_id(std::string(100'000, 'b'));
              }).ok());
  EXPECT_LE(host("strange").ByteSizeLong(), 2000U);
}

TEST_F(HostBoundsTest, ASequenceOfTheFutureEndsThatJobOnly) {
  FakeHost& h0 = join("h0");
  const std::int64_t good = submit(requestOf());
  for (const std::uint64_t sequence :
       {std::numeric_limits<std::uint64_t>::max(), std::uint64_t{1} << 63, std::uint64_t{1} << 53}) {
    const std::int64_t bad = submit(requestOf());
    const std::int64_t stream = h0.runners.at({bad, 1}).streams.begin()->first;
    v1::HostReport report;
    report.mutable_said()->mutable_key()->set_job(bad);
    report.mutable_said()->mutable_key()->set_attempt(1);
    v1::Records& records = *report.mutable_said()->mutable_report()->mutable_records();
    records.set_stream(stream);
    v1::StoredRecord& record = *records.add_records();
    record.set_sequence(sequence);
    record.set_kind(kEventRecord);
    v1::JobEvent event;
    event.mutable_log()->set_text("x");
    record.set_bytes(event.SerializeAsString());
    h0.says(report);
    settle();
    EXPECT_TRUE(h0.isJoined());
    EXPECT_EQ(job(bad).end(), v1::END_FAILED) << job(bad).reason();
  }
  h0.finish({good, 1}, 0);
  settle();
  EXPECT_EQ(job(good).end(), v1::END_SUCCEEDED);
}

TEST_F(HostBoundsTest, NumbersOfEventsAreWithinTheJob) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf(2));
  for (int i = 0; i < 5; ++i)
    said(h0, {id, 1}, [](v1::JobEvent& event) { event.mutable_log()->set_kind(v1::EVENT_INSTANCE_STARTED); });
  said(h0, {id, 1}, [](v1::JobEvent& event) { event.mutable_restarting()->set_restart(-3); });
  settle();
  EXPECT_EQ(job(id).instances_running(), 2);
  EXPECT_EQ(job(id).restarts(), 0);
  said(h0, {id, 1}, [](v1::JobEvent& event) { event.mutable_outcome()->set_exit_code(256); });
  settle();
  EXPECT_EQ(job(id).outcome().exit_code(), 125) << "256 would be 0 to a shell";
}

TEST_F(HostBoundsTest, ACodeThatIsNoneIsARefusalAllTheSame) {
  FakeHost& h0 = join("h0");
  h0.refuses = Status(static_cast<Code>(200), "no such code");
  const std::int64_t id = submit(requestOf());
  EXPECT_EQ(job(id).state(), v1::JOB_QUEUED);
  EXPECT_NE(job(id).reason().find("no such code"), std::string::npos) << job(id).reason();
}

// The store has the request of a job that cannot be read, and refuses another with it.
TEST_F(HostBoundsTest, AWriteThatTheStoreRefusesIsOneCallsOnly) {
  v1::SubmitRequest request = requestOf();
  request.set_request_id("r1");
  submit(request);
  killDaemon();
  {
    auto store = SqliteStore::open(directory_.path() + "/state");
    ASSERT_TRUE(store.ok());
    v1::JobRecord record = (*store)->jobs().value().front();
    record.set_spec("no spec");
    ASSERT_TRUE((*store)->putJob(record).ok());
    ASSERT_TRUE((*store)->commit().ok());
  }
  startDaemon();
  FakeHost& h0 = join("h0");
  const std::int64_t runs = submit(requestOf());
  EXPECT_EQ(trySubmit(request).code(), Code::kAlreadyExists);
  EXPECT_TRUE(h0.isJoined());
  EXPECT_EQ(job(runs).state(), v1::JOB_RUNNING);
  EXPECT_GT(submit(requestOf()), runs);
}

TEST_F(HostBoundsTest, SlotsThatAreNotBelievedTakeNoJobs) {
  host_rules_.most_slots = 4;
  killDaemon();
  startDaemon();
  FakeHost& big = join("big", 100'000);
  join("small", 3);
  std::map<std::string, int> jobs;
  for (int i = 0; i < 8; ++i) {
    const v1::JobInfo info = job(submit(requestOf()));
    ++jobs[info.hosts().empty() ? info.reason() : info.hosts(0)];
  }
  EXPECT_EQ(jobs["big"], 4);
  EXPECT_EQ(jobs["small"], 3);
  EXPECT_EQ(host("big").slots(), 4);
  EXPECT_EQ(host("big").slots_said(), 100'000);
  EXPECT_EQ(host("small").slots_said(), 0);
  host_rules_.most_slots = 0;
  killDaemon();
  startDaemon();
  EXPECT_TRUE(big.join(*core_).ok());
  EXPECT_EQ(host("big").slots(), 100'000) << "it is believed again";
  EXPECT_EQ(host("big").slots_said(), 0);
}

// As many jobs as a list may have rows, each with as much as a program can say.
TEST_F(HostBoundsTest, LongTextsLeaveListsReadable) {
  FakeHost& h0 = join("h0", 2000);
  const std::string text(900'000, 'x');
  std::vector<std::int64_t> jobs;
  for (int i = 0; i < 1000; ++i) jobs.push_back(submit(requestOf()));
  for (const std::int64_t id : jobs) {
    said(h0, {id, 1}, [&](v1::JobEvent& event) {
      event.mutable_outcome()->set_exit_code(1);
      event.mutable_outcome()->mutable_failure()->set_reason(id == jobs.front() ? text
                                                                                : std::string(5000, 'y'));
      event.mutable_outcome()->set_why_not_again(std::string(5000, 'z'));
    });
    settle();
  }
  const v1::JobInfo first = job(jobs.front());
  EXPECT_EQ(first.state(), v1::JOB_ENDED);
  EXPECT_LE(first.reason().size(), kMostTextBytes);
  EXPECT_NE(first.reason().find(" more bytes"), std::string::npos);
  EXPECT_LE(first.ByteSizeLong(), 20'000U);
  EXPECT_LE(store_->events(jobs.front(), 1, 100).value().back().bytes.size(), 10'000U);

  std::size_t listed = 0;
  v1::ListJobsRequest request;
  request.set_page_size(1000);
  for (int pages = 0; pages < 1000; ++pages) {
    Answer<v1::ListJobsReply> page;
    core_->list(callerOf("alice"), request, page.reply());
    ASSERT_EQ(page.code(), Code::kOk);
    EXPECT_LE(page.value().ByteSizeLong(), std::size_t{2} << 20);
    listed += static_cast<std::size_t>(page.value().jobs_size());
    request.set_page_token(page.value().next_page_token());
    if (request.page_token().empty()) break;
  }
  EXPECT_EQ(listed, jobs.size());
}

TEST_F(HostBoundsTest, WordsOfUsersAndHostsAreCutInReasons) {
  FakeHost& h0 = join("h0");
  h0.refuses = unavailable(std::string(100'000, 'w'));
  const std::int64_t refused = submit(requestOf());
  EXPECT_LE(job(refused).reason().size(), kMostTextBytes);

  v1::SubmitRequest far = requestOf();
  far.mutable_spec()->add_hosts()->set_name(std::string(100'000, 'n'));
  const Answer<v1::SubmitReply> named = trySubmit(far);
  if (named.code() == Code::kOk) {
    EXPECT_LE(job(named.value().job().id()).reason().size(), kMostTextBytes);
  }
  h0.refuses = {};
  const std::int64_t cancelled = submit(requestOf(100));
  v1::CancelRequest request;
  *request.mutable_job() = ref(cancelled);
  request.set_reason(std::string(1'000'000, 'c'));
  Answer<v1::JobInfo> answer;
  core_->cancel(callerOf("alice"), request, answer.reply());
  settle();
  EXPECT_LE(job(cancelled).reason().size(), kMostTextBytes);
}

}  // namespace
}  // namespace pop::popdistd::testing
