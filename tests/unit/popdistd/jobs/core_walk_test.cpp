// SPDX-License-Identifier: Apache-2.0
// Short lives of the daemon's core, in which everything happens at every moment: also in the middle of a turn
// of its loop, which goes on when the core is gone.
#include <algorithm>

#include "common/base/random.h"
#include "common/base/text.h"
#include "tests/unit/popdistd/jobs/cluster_fixture.h"

namespace pop::popdistd::testing {
namespace {

constexpr int kLives = 1200;
constexpr int kLivesOfAStore = 10;
constexpr int kSteps = 12;
constexpr int kMostInstances = 9;

class CoreWalk : public ClusterTest {
 protected:
  CoreWalk() : ClusterTest(SqliteStore::inMemory()) {}

  void live(std::uint64_t seed) {
    random_ = SplitMix64(seed);
    if (seed % kLivesOfAStore == 0) beginAnew();
    for (int step = 0; step < kSteps; ++step) {
      act(roll(14));
      check();
      if (HasFailure()) return;
    }
    core_ = nullptr;  // in the middle of whatever there is
    for (auto& [name, host] : hosts_) host.loseConnection(false);
    loop_->runPosted();
    loop_->advance(seconds(11));
    startCore();
    check();
  }

 private:
  int roll(int below) { return static_cast<int>(random_.below(static_cast<std::uint64_t>(below))); }
  std::int64_t anyJob() {
    return jobs_.empty() ? 0 : jobs_[static_cast<std::size_t>(roll(static_cast<int>(jobs_.size())))];
  }
  FakeHost& anyHost() {
    const std::string name = "h" + std::to_string(roll(3));
    return hosts_.try_emplace(name, name, 2 + 2 * roll(3)).first->second;
  }

  template <typename Answer>
  static Reply<Answer> nobody() {
    return [](const Result<Answer>&) {};
  }

  void beginAnew() {
    core_ = nullptr;
    hosts_.clear();
    jobs_.clear();
    loop_->runPosted();
    startDaemon(SqliteStore::inMemory());
  }

  void act(int what) {
    const Caller alice = callerOf("alice");
    switch (what) {
      case 0:
      case 1:
        return submitOne();
      case 2:
        return core_->hold(alice, ref(anyJob()), nobody<v1::JobInfo>());
      case 3:
      case 4:
        return core_->release(alice, ref(anyJob()), nobody<v1::JobInfo>());
      case 5: {
        v1::CancelRequest request;
        *request.mutable_job() = ref(anyJob());
        return core_->cancel(alice, request, nobody<v1::JobInfo>());
      }
      case 6:
        return core_->forget(alice, ref(anyJob()), nobody<v1::Nothing>());
      case 7: {
        FakeHost& host = anyHost();
        host.refuses = roll(4) == 0 ? unavailable("its disk is full") : Status();
        return static_cast<void>(host.join(*core_));
      }
      case 8:
        return anyHost().loseConnection(roll(2) == 0);
      case 9:
        return finishOne(anyHost());
      case 10:
        return static_cast<void>(anyHost().pump(static_cast<std::size_t>(roll(3))));
      case 11:
        return loop_->advance(milliseconds(roll(3) == 0 ? 11000 : 200));
      case 12:
        return settle();
      default:
        return loop_->runPosted();
    }
  }

  void submitOne() {
    const int instances = 1 + roll(kMostInstances);
    v1::SubmitRequest request = requestOf(instances);
    request.set_held(roll(4) == 0);
    request.set_no_wait(roll(8) == 0);
    core_->submit(callerOf("alice"), request, [this](const Result<v1::SubmitReply>& submitted) {
      if (submitted.ok()) jobs_.push_back(submitted.value().job().id());
      if (jobs_.size() > 12) jobs_.erase(jobs_.begin());
    });
  }

  void finishOne(FakeHost& host) {
    for (auto& [id, runner] : host.runners) {
      if (!runner.alive || runner.job_over) continue;
      return roll(3) == 0 ? host.killRunner(id) : host.finish(id, roll(2));
    }
  }

  // Each number of instances has a sentence of its own.
  void check() {
    Answer<v1::ListJobsReply> listed;
    v1::ListJobsRequest request;
    request.set_page_size(20);
    core_->list(callerOf("alice"), request, listed.reply());
    ASSERT_EQ(listed.code(), Code::kOk) << listed.words();
    for (const v1::JobInfo& job : listed.value().jobs()) {
      if (job.state() == v1::JOB_HELD) {
        EXPECT_TRUE(job.reason().empty() || job.reason() == "held") << job.reason();
      }
      if (job.state() != v1::JOB_QUEUED) continue;
      const std::string own = "it needs " + counted(job.num_instances(), "slot");
      const bool is_of_another = job.reason().starts_with("it needs ") && !job.reason().starts_with(own) &&
                                 !job.reason().starts_with("it needs 1 host");
      EXPECT_FALSE(is_of_another) << "job " << job.id() << " of " << job.num_instances() << ": "
                                  << job.reason();
      EXPECT_NE(job.reason(), "held") << job.id();
    }
    Answer<v1::CountJobsReply> counts;
    core_->countJobs(callerOf("alice"), {}, counts.reply());
    EXPECT_EQ(counts.code(), Code::kOk);
  }

  SplitMix64 random_{0};
  std::vector<std::int64_t> jobs_;
};

TEST_F(CoreWalk, ReasonsBelongToTheirJobsAtEveryMoment) {
  for (std::uint64_t seed = 1; seed <= kLives; ++seed) {
    live(seed);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace pop::popdistd::testing
