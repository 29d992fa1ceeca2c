// SPDX-License-Identifier: Apache-2.0
// The changes and logs that watchers and readers see.
#include <cmath>

#include "tests/unit/popdistd/jobs/cluster_fixture.h"

namespace pop::popdistd::testing {
namespace {

class WatchTest : public ClusterTest {
 protected:
  std::unique_ptr<Source<ShownChange>> watch(std::uint64_t since) {
    v1::WatchRequest request;
    request.set_since_revision(since);
    return std::move(core_->watch({"alice", ""}, request, [this] { ++wakes_; }).value());
  }
  std::unique_ptr<Source<v1::Record>> logs(std::int64_t job, bool follow, std::uint64_t from = 0) {
    v1::LogsRequest request;
    *request.mutable_job() = ref(job);
    request.set_follow(follow);
    request.set_from_sequence(from);
    return std::move(core_->logs({"alice", ""}, request, [this] { ++wakes_; }).value());
  }
  template <typename T>
  static std::vector<T> drain(Source<T>& source) {
    std::vector<T> all;
    while (std::optional<T> next = source.next()) all.push_back(std::move(*next));
    return all;
  }
  static std::vector<v1::Change> drain(Source<ShownChange>& source) {
    std::vector<v1::Change> all;
    while (const std::optional<ShownChange> next = source.next()) all.push_back(**next);
    return all;
  }
  static std::string output(const std::string& text) {
    v1::Output output;
    output.set_text(text);
    return output.SerializeAsString();
  }

  int wakes_ = 0;
};

TEST_F(WatchTest, BeginsWithEverythingThereIs) {
  join("h0");
  const std::int64_t id = submit(requestOf());
  const auto source = watch(0);
  const std::vector<v1::Change> all = drain(*source);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_TRUE(all[0].has_snapshot_begins());
  EXPECT_EQ(all[1].host().name(), "h0");
  EXPECT_EQ(all[2].job().id(), id);
  EXPECT_TRUE(all[3].has_snapshot_ends());
}

TEST_F(WatchTest, AChangeIsMadeOnceForAllWhoSeeIt) {
  const auto one = watch(0);
  const auto other = watch(0);
  drain(*one);
  drain(*other);
  submit(requestOf());
  const ShownChange first = one->next().value();
  const ShownChange second = other->next().value();
  EXPECT_EQ(&*first, &*second);
  int encoded = 0;
  const auto encode = [&encoded](const v1::Change& change) -> Result<std::string> {
    return std::to_string(++encoded) + change.job().name();
  };
  EXPECT_EQ(first.bytes(ChangeWire::kJson, encode).value(), second.bytes(ChangeWire::kJson, encode).value());
  EXPECT_EQ(encoded, 1);
}

// When a job is expected to start is told without a change, too.
TEST_F(WatchTest, WhoBeginsAnewSeesWhatThereIsNow) {
  const auto before = watch(0);
  const std::uint64_t seen = drain(*before).back().revision();
  const std::int64_t id = submit(requestOf());
  const auto told = drain(*before);
  ASSERT_EQ(told.size(), 1U);
  advance(std::chrono::seconds(2));
  for (const std::uint64_t since : {std::uint64_t{0}, seen}) {
    const auto source = watch(since);
    for (const v1::Change& change : drain(*source)) {
      if (change.has_job()) {
        EXPECT_EQ(change.job().reason(), job(id).reason()) << since;
      }
    }
  }
}

TEST_F(WatchTest, AWatcherThatFallsBehindSkipsWhatChangedAgain) {
  FakeHost& h0 = join("h0");
  const auto source = watch(0);
  const std::uint64_t seen = drain(*source).back().revision();
  const std::int64_t id = submit(requestOf());  // queued, starting, running
  h0.finish({id, 1}, 0);
  settle();
  EXPECT_EQ(wakes_, 1);  // until it reads again
  const std::vector<v1::Change> changes = drain(*source);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].job().state(), v1::JOB_ENDED);
  EXPECT_GT(changes[0].revision(), seen);
  const auto resumed = watch(seen);
  EXPECT_EQ(drain(*resumed).size(), 1U);
}

TEST_F(WatchTest, WhatInstancesReportIsPartOfTheJob) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  const auto source = watch(0);
  drain(*source);
  h0.reports({id, 1}, {{"loss", 0.5}, {"nothing", std::nan("")}, {"", 1}, {std::string(300, 'x'), 1}});
  settle();
  const std::vector<v1::Change> changes = drain(*source);
  ASSERT_EQ(changes.size(), 1U);
  ASSERT_EQ(changes[0].job().values_size(), 1);
  EXPECT_EQ(changes[0].job().values(0).name(), "loss");
  EXPECT_EQ(changes[0].job().values(0).value(), 0.5);
  std::vector<std::pair<std::string, double>> many;
  for (int i = 0; i < 100; ++i) many.emplace_back("name" + std::to_string(i), i);
  h0.reports({id, 1}, many);
  settle();
  EXPECT_EQ(job(id).values_size(), 16);
  h0.finish({id, 1}, 0);
  settle();
  EXPECT_EQ(job(id).values_size(), 16) << "the last ones stay";
  h0.reports({id, 1}, {{"late", 1}});
  settle();
  EXPECT_EQ(job(id).values_size(), 16);
}

TEST_F(WatchTest, ForgottenJobsAreTold) {
  const std::int64_t id = submit(requestOf());
  cancel(id);
  const auto source = watch(0);
  drain(*source);
  Answer<v1::Nothing> forgotten;
  core_->forget({"alice", ""}, ref(id), forgotten.reply());
  settle();
  const std::vector<v1::Change> changes = drain(*source);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].job_forgotten(), id);
}

TEST_F(WatchTest, ARevisionOfAnotherLifeBeginsAnew) {
  submit(requestOf());
  const std::uint64_t seen = drain(*watch(0)).back().revision();
  killDaemon();
  startDaemon();
  const auto source = watch(seen);
  EXPECT_TRUE(drain(*source).front().has_snapshot_begins());
}

TEST_F(WatchTest, LogsHaveEachRecordOnceAndEndWithTheJob) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  const RunnerId runner{id, 1};
  h0.emit(runner, kOutputRecord, output("one\n"));
  const auto source = logs(id, true);
  settle();
  EXPECT_EQ(drain(*source).size(), 1U);
  h0.loseConnection();
  h0.emit(runner, kOutputRecord, output("two\n"));
  settle();
  EXPECT_TRUE(drain(*source).empty());
  EXPECT_FALSE(source->ended());
  join("h0");
  h0.finish(runner, 0);
  settle();
  const std::vector<v1::Record> rest = drain(*source);
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0].output().text(), "two\n");
  EXPECT_TRUE(rest[1].event().has_outcome());
  ASSERT_TRUE(source->ended());
  EXPECT_TRUE(source->ended()->ok());
}

TEST_F(WatchTest, WhatIsUnderWayWhenAHostComesBackHidesNothing) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  const RunnerId runner{id, 1};
  const auto source = logs(id, true);
  settle();
  h0.loseConnection();
  h0.emit(runner, kOutputRecord, output("lost\n"));
  ASSERT_TRUE(h0.join(*core_).ok());
  h0.emit(runner, kOutputRecord, output("under way\n"));  // before the runner hears that it is followed anew
  settle();
  const std::vector<v1::Record> records = drain(*source);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].output().text(), "lost\n");
  EXPECT_EQ(records[1].output().text(), "under way\n");
}

TEST_F(WatchTest, LogsWithoutFollowEndWithWhatThereIs) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  h0.emit({id, 1}, kOutputRecord, output("one\n"));
  h0.emit({id, 1}, kOutputRecord, output("two\n"));
  const auto source = logs(id, false, 2);
  settle();
  const std::vector<v1::Record> records = drain(*source);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].sequence(), 2U);
  EXPECT_TRUE(source->ended());
}

TEST_F(WatchTest, LogsOfAnEndedJobComeFromAFeeder) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  h0.finish({id, 1}, 0);
  h0.runners.at({id, 1}).alive = false;
  settle();
  h0.loseConnection();
  join("h0");
  const auto source = logs(id, true);
  settle();
  EXPECT_EQ(drain(*source).size(), 1U);
  EXPECT_TRUE(source->ended());
}

TEST_F(WatchTest, LogsOnAHostThatIsUnheardEndAtOnce) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  const std::int64_t runs = submit(requestOf());
  h0.finish({id, 1}, 0);
  settle();
  h0.loseConnection();
  const auto follows = logs(id, true);
  const auto so_far = logs(runs, false);
  const auto goes_on = logs(runs, true);
  EXPECT_FALSE(follows->next());
  EXPECT_FALSE(follows->ended()) << "it may be back in a moment";
  advance(seconds(16));
  for (Source<v1::Record>* const each : {follows.get(), so_far.get()}) {
    EXPECT_FALSE(each->next());
    ASSERT_TRUE(each->ended());
    EXPECT_EQ(each->ended()->code(), Code::kFailedPrecondition);
    EXPECT_NE(each->ended()->message().find("on host h0, which is silent since 20"), std::string::npos)
        << each->ended()->message();
  }
  advance(seconds(45));
  EXPECT_FALSE(goes_on->next());
  EXPECT_FALSE(goes_on->ended()) << "the job may go on";
  v1::LogsRequest request;
  *request.mutable_job() = ref(id);
  const Status down = core_->logs(callerOf("alice"), request, [] {}).status();
  EXPECT_EQ(down.code(), Code::kFailedPrecondition);
  EXPECT_NE(down.message().find("on host h0, which is down since 20"), std::string::npos) << down.message();

  Answer<v1::Nothing> removed;
  v1::HostRef host;
  host.set_name("h0");
  core_->removeHost(callerOf("root"), host, removed.reply());
  settle();
  ASSERT_EQ(removed.code(), Code::kOk) << removed.words();
  EXPECT_EQ(core_->logs(callerOf("alice"), request, [] {}).code(), Code::kNotFound);
  EXPECT_FALSE(goes_on->next());
  ASSERT_TRUE(goes_on->ended()) << "the job is lost with its host";
}

TEST_F(WatchTest, LogsOfAWaitingJobWaitForIt) {
  const std::int64_t id = submit(requestOf());
  const auto source = logs(id, true);
  EXPECT_FALSE(source->next());
  EXPECT_FALSE(source->ended());
  FakeHost& h0 = join("h0");
  EXPECT_GE(wakes_, 1);
  EXPECT_FALSE(source->next());
  h0.finish({id, 1}, 0);
  settle();
  EXPECT_EQ(drain(*source).size(), 1U);
  EXPECT_TRUE(source->ended());
}

TEST_F(WatchTest, LogsOfAJobThatNeverRanAreEmpty) {
  const std::int64_t id = submit(requestOf());
  const auto source = logs(id, true);
  cancel(id);
  EXPECT_TRUE(drain(*source).empty());
  EXPECT_TRUE(source->ended());
}

TEST_F(WatchTest, ListsArePagedNewestFirst) {
  for (int i = 0; i < 5; ++i) submit(requestOf());
  v1::ListJobsRequest request;
  request.set_page_size(2);
  std::vector<std::int64_t> ids;
  do {
    Answer<v1::ListJobsReply> answer;
    core_->list({"alice", ""}, request, answer.reply());
    for (const v1::JobInfo& each : answer.value().jobs()) ids.push_back(each.id());
    request.set_page_token(answer.value().next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(ids, (std::vector<std::int64_t>{5, 4, 3, 2, 1}));
}

TEST_F(WatchTest, ListsHaveTheJobsThatAreAskedFor) {
  v1::SubmitRequest held = requestOf();
  held.set_held(true);
  held.set_name("Night-Run");
  submit(held);
  cancel(submit(requestOf()));
  submit(requestOf(), "bob");
  const auto listed = [this](const auto& choose) {
    v1::ListJobsRequest request;
    choose(request);
    Answer<v1::ListJobsReply> answer;
    core_->list({"alice", ""}, request, answer.reply());
    std::vector<std::int64_t> ids;
    for (const v1::JobInfo& each : answer.value().jobs()) ids.push_back(each.id());
    return ids;
  };
  using Ids = std::vector<std::int64_t>;
  EXPECT_EQ(listed([](auto& request) { request.add_ends(v1::END_CANCELLED); }), Ids{2});
  EXPECT_EQ(listed([](auto& request) { request.add_ends(v1::END_NONE); }), (Ids{3, 1}));
  EXPECT_EQ(listed([](auto& request) { request.set_text("night"); }), Ids{1});
  EXPECT_EQ(listed([](auto& request) { request.set_text("BOB"); }), Ids{3});
  EXPECT_EQ(listed([](auto& request) { request.set_text("train"); }), (Ids{3, 2, 1}));
  EXPECT_EQ(listed([](auto& request) { request.set_text("no host"); }), Ids{3}) << "the reason";
  EXPECT_EQ(listed([](auto& request) { request.set_text("else"); }), Ids{});
  const std::int64_t last = submit(requestOf());
  EXPECT_EQ(listed([this, last](auto& request) { request.set_text(job(last).reason()); }), (Ids{last, 3}));
}

TEST_F(WatchTest, BriefListsLeaveOutWhatOnlyAPageAboutTheJobShows) {
  submit(requestOf());
  for (const bool brief : {false, true}) {
    v1::ListJobsRequest request;
    request.set_brief(brief);
    Answer<v1::ListJobsReply> answer;
    core_->list({"alice", ""}, request, answer.reply());
    EXPECT_EQ(answer.value().jobs(0).has_shown(), !brief);
    EXPECT_EQ(answer.value().jobs(0).command(0), "train");
  }
}

TEST_F(WatchTest, JobsAreCountedByStateAndByWhatTheyWaitFor) {
  for (int i = 0; i < 3; ++i) submit(requestOf());
  v1::SubmitRequest two_hosts = requestOf(2);
  two_hosts.set_num_hosts(2);
  submit(two_hosts);
  cancel(submit(requestOf()));
  FakeHost& h0 = join("h0", 2);
  h0.loseConnection();
  advance(seconds(20));
  Answer<v1::CountJobsReply> answer;
  core_->countJobs({"alice", ""}, {}, answer.reply());
  const v1::CountJobsReply& counts = answer.value();
  std::map<std::pair<v1::JobState, v1::JobEnd>, std::int64_t> by_state;
  for (const v1::JobsInState& each : counts.counts()) by_state[{each.state(), each.end()}] = each.jobs();
  EXPECT_EQ((by_state[{v1::JOB_RUNNING, v1::END_NONE}]), 2);
  EXPECT_EQ((by_state[{v1::JOB_QUEUED, v1::END_NONE}]), 2);
  EXPECT_EQ((by_state[{v1::JOB_ENDED, v1::END_CANCELLED}]), 1);
  std::int64_t waiting = 0;
  for (const v1::WaitingJobs& each : counts.waiting()) {
    waiting += each.jobs();
    EXPECT_EQ(each.reason(), job(each.first_job()).reason());
    EXPECT_TRUE(each.has_since());
  }
  EXPECT_EQ(waiting, 2);
  EXPECT_EQ(counts.troubled_size(), 2) << "their host is silent";
}

}  // namespace
}  // namespace pop::popdistd::testing
