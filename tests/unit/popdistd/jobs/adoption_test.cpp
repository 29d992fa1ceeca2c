// SPDX-License-Identifier: Apache-2.0
// The daemon is killed at any point of random lives of jobs, and its hosts' connections break: every job's
// program runs at most once, its events are stored completely and once, and every end is the right one.
#include <filesystem>
#include <random>

#include "tests/unit/popdistd/jobs/cluster_fixture.h"

namespace pop::popdistd::testing {
namespace {

class AdoptionTest : public ClusterTest {
 protected:
  void restart() {
    killDaemon();
    startDaemon();
    settle();
  }
};

TEST_F(AdoptionTest, ARunningJobIsTakenUpAgain) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  killDaemon();
  h0.finish({id, 1}, 7);
  startDaemon();
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
  join("h0");
  EXPECT_EQ(job(id).outcome().exit_code(), 7);
  EXPECT_EQ(h0.starts.at({id, 1}), 1);
}

TEST_F(AdoptionTest, AnAcknowledgedJobIsNeverLost) {
  v1::SubmitRequest request = requestOf();
  request.set_request_id("r1");
  const std::int64_t id = submit(request);
  restart();
  EXPECT_EQ(job(id).state(), v1::JOB_QUEUED);
  EXPECT_TRUE(trySubmit(request).value().repeated_request());
}

TEST_F(AdoptionTest, AStreamOfAnEarlierLifeHidesNothing) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  const RunnerId runner{id, 1};
  killDaemon();
  h0.event(runner, {});
  startDaemon();
  ASSERT_TRUE(h0.join(*core_).ok());
  h0.event(runner, {});
  settle();
  EXPECT_EQ(store_->events(id, 1, 10).value().size(), 2U);
  EXPECT_EQ(h0.runners.at(runner).streams.size(), 1U);
}

TEST_F(AdoptionTest, AJobThatHasRecordsHasRun) {
  FakeHost& h0 = join("h0");
  v1::SubmitRequest request = requestOf();
  Answer<v1::SubmitReply> answer;
  core_->submit({"alice", ""}, request, answer.reply());
  loop_->runPosted();
  const std::int64_t id = answer.value().job().id();
  ASSERT_EQ(job(id).state(), v1::JOB_STARTING);
  killDaemon();
  h0.runners[{id, 1}];
  h0.event({id, 1}, {});
  h0.killRunner({id, 1});
  startDaemon();
  join("h0");
  EXPECT_EQ(job(id).end(), v1::END_FAILED) << job(id).reason();
  EXPECT_EQ(h0.starts.size(), 0U);
}

TEST_F(AdoptionTest, AJobThatCannotBeReadIsLeftAlone) {
  FakeHost& h0 = join("h0");
  const std::int64_t id = submit(requestOf());
  Result<std::vector<v1::JobRecord>> stored = store_->jobs();
  ASSERT_TRUE(stored.ok());
  v1::JobRecord& record = stored->front();
  record.set_spec("not one");
  ASSERT_TRUE(store_->putJob(record).ok());
  ASSERT_TRUE(store_->commit().ok());
  killDaemon();
  startDaemon();
  join("h0");
  EXPECT_TRUE(h0.runners.contains({id, 1}) && h0.runners.at({id, 1}).alive);
}

TEST_F(AdoptionTest, ALostJobsProofGoesOn) {
  FakeHost& a = join("a");
  FakeHost& b = join("b");
  v1::SubmitRequest request = requestOf(2);
  request.set_num_hosts(2);
  const std::int64_t id = submit(request);
  b.agents_of.insert(a.runners.at({id, 1}).start.agent_job_id());
  a.killRunner({id, 1});
  settle();
  restart();
  join("a");
  join("b");
  EXPECT_EQ(job(id).state(), v1::JOB_ENDING);
  b.agents_of.clear();
  advance(seconds(2));
  EXPECT_EQ(job(id).end(), v1::END_FAILED);
}

TEST_F(AdoptionTest, AJobThatAnOldStoreDoesNotKnowIsLeftAlone) {
  FakeHost& h0 = join("h0");
  const std::string copy = directory_.path() + "/copy";
  ASSERT_TRUE(store_->backup(copy).ok());
  const std::int64_t id = submit(requestOf());
  killDaemon();
  std::filesystem::remove_all(directory_.path() + "/state");
  std::filesystem::create_directory(directory_.path() + "/state");
  std::filesystem::permissions(directory_.path() + "/state", std::filesystem::perms::owner_all);
  std::filesystem::rename(copy, directory_.path() + "/state/store.db");
  startDaemon();
  join("h0");
  EXPECT_TRUE(h0.runners.at({id, 1}).alive);
  Answer<v1::AboutReply> about;
  core_->about({"alice", ""}, {}, about.reply());
  EXPECT_EQ(about.value().warnings_size(), 1);
  EXPECT_GT(submit(requestOf()), id);
}

// A copy of the store has the epoch of then: hosts would take popdistd for one of the past.
TEST_F(AdoptionTest, AnOldStoreRisesAboveWhatAHostHasSeen) {
  FakeHost& h0 = join("h0");
  const auto epoch = [&] {
    Answer<v1::AboutReply> about;
    core_->about({"alice", ""}, {}, about.reply());
    return about.value().epoch();
  };
  const std::uint64_t before = epoch();
  h0.loseConnection();
  h0.epoch = before + 5;
  EXPECT_EQ(h0.join(*core_).code(), Code::kUnavailable);
  h0.loseConnection(false);
  advance(seconds(1));
  EXPECT_EQ(epoch(), before + 6);
  EXPECT_TRUE(h0.join(*core_).ok());
  killDaemon();
  startDaemon();
  EXPECT_EQ(epoch(), before + 7) << "it is durable";
  h0.epoch = std::uint64_t{1} << 40;
  EXPECT_EQ(h0.join(*core_).code(), Code::kInvalidArgument);
}

// One walk: clients submit and cancel, runners emit and end, connections break, the daemon is killed between
// any two tasks of its loop.
class Walk : public AdoptionTest {
 protected:
  void run(unsigned seed) {
    random_.seed(seed);
    for (const char* const name : {"a", "b", "c"}) join(name, 2);
    for (int step = 0; step < 400; ++step) {
      act();
      if (roll(3) == 0) partly();
      if (roll(2) == 0) settle();
    }
    finishAll();
    check();
  }

  int roll(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(random_); }
  FakeHost& anyHost() { return std::next(hosts_.begin(), roll(3))->second; }

  void act() {
    switch (roll(8)) {
      case 0:
      case 1: {
        v1::SubmitRequest request = requestOf(1 + roll(3));
        request.set_request_id("r" + std::to_string(++requests_));
        core_->submit({"alice", ""}, request, [this](Result<v1::SubmitReply> reply) {
          if (reply.ok()) acknowledged_.insert(reply.value().job().id());
        });
        break;
      }
      case 2:
        if (!acknowledged_.empty()) {
          const std::int64_t id =
              *std::next(acknowledged_.begin(), roll(static_cast<int>(acknowledged_.size())));
          v1::CancelRequest request;
          *request.mutable_job() = ref(id);
          core_->cancel({"alice", ""}, request, [this, id](Result<v1::JobInfo> reply) {
            if (reply.ok()) cancelled_.insert(id);
          });
        }
        break;
      case 3:
      case 4:
        runnerActs(anyHost());
        break;
      case 5: {
        FakeHost& host = anyHost();
        host.isJoined() ? host.loseConnection() : static_cast<void>(host.join(*core_));
        break;
      }
      case 6:
        if (roll(6) == 0) {
          killDaemon();
          startDaemon();
        }
        break;
      default:
        for (auto& [name, host] : hosts_) {
          if (!host.isJoined()) static_cast<void>(host.join(*core_));
        }
    }
  }

  void runnerActs(FakeHost& host) {
    if (host.runners.empty()) return;
    auto& [id, runner] = *std::next(host.runners.begin(), roll(static_cast<int>(host.runners.size())));
    if (!runner.alive || runner.job_over) return;
    const int what = roll(5);
    if (what == 0 || !runner.stops.empty()) {
      codes_[id.first] = runner.stops.empty() ? roll(3) : 143;
      host.finish(id, codes_[id.first]);
    } else if (what == 1) {
      host.killRunner(id);
    } else {
      v1::JobEvent event;
      event.mutable_log()->set_text(std::to_string(runner.records.size()));
      roll(2) == 0 ? host.event(id, event) : host.emit(id, kOutputRecord, "");
    }
  }

  // A few tasks and orders only, so that what follows meets a daemon in the middle of things.
  void partly() {
    for (auto& [name, host] : hosts_) host.pump(static_cast<std::size_t>(roll(3)));
  }

  void finishAll() {
    for (int round = 0; round < 100; ++round) {
      for (auto& [name, host] : hosts_) {
        if (!host.isJoined()) static_cast<void>(host.join(*core_));
      }
      settle();
      for (auto& [name, host] : hosts_) {
        for (auto& [id, runner] : host.runners) {
          if (!runner.alive || runner.job_over) continue;
          codes_[id.first] = 0;
          host.finish(id, 0);
        }
      }
      settle();
    }
  }

  void check() {
    std::map<std::int64_t, int> runs;
    for (auto& [name, host] : hosts_) {
      for (const auto& [id, starts] : host.starts) {
        EXPECT_EQ(starts, 1) << id.first;
        ++runs[id.first];
      }
    }
    for (const std::int64_t id : acknowledged_) {
      const v1::JobInfo info = job(id);
      EXPECT_EQ(info.state(), v1::JOB_ENDED) << id << ' ' << info.reason();
      EXPECT_LE(runs[id], 1) << id;
      if (codes_.contains(id)) {
        EXPECT_EQ(info.outcome().exit_code(), codes_[id]) << id;
        const v1::JobEnd end = codes_[id] == 0 ? v1::END_SUCCEEDED : v1::END_FAILED;
        EXPECT_TRUE(info.end() == end || cancelled_.contains(id)) << id;
      } else if (runs[id] == 0) {
        EXPECT_EQ(info.end(), v1::END_CANCELLED) << id;
      }
      checkEvents(info);
    }
  }

  void checkEvents(const v1::JobInfo& info) {
    if (info.hosts().empty()) return;
    const FakeHost& host = hosts_.at(info.hosts(0));
    const auto runner = host.runners.find({info.id(), info.attempt()});
    if (runner == host.runners.end()) return;
    std::vector<StoredEvent> expected;
    for (const v1::StoredRecord& record : runner->second.records) {
      if (record.kind() == kEventRecord) expected.push_back({record.sequence(), record.bytes()});
    }
    EXPECT_EQ(store_->events(info.id(), 1, 10000).value(), expected) << info.id();
  }

  std::mt19937 random_;
  int requests_ = 0;
  std::set<std::int64_t> acknowledged_;
  std::set<std::int64_t> cancelled_;
  std::map<std::int64_t, int> codes_;
};

class AdoptionWalk : public Walk, public ::testing::WithParamInterface<unsigned> {};

TEST_P(AdoptionWalk, KeepsEveryPromise) {
  run(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, AdoptionWalk, ::testing::Range(1U, 41U));

}  // namespace
}  // namespace pop::popdistd::testing
