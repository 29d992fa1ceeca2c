// SPDX-License-Identifier: Apache-2.0
// Random lives of jobs with partitions, of V-IPU's clients and of holders, while the daemon is killed between
// any two commits, hosts are lost, and machines with them: no partition has two users, no IPU two owners, and
// at the end nothing is left.
#include <random>

#include "tests/unit/popdistd/pods/pods_fixture.h"

namespace pop::popdistd::testing {
namespace {

class PodWalk : public PodsTest, public ::testing::WithParamInterface<unsigned> {
 protected:
  void run(unsigned seed) {
    random_.seed(seed);
    if (roll(2) == 0) pod_settings_.configure_delay = seconds(2);
    restart();
    for (const char* const name : {"h0", "h1", "h2"}) join(name, 8);
    for (int step = 0; step < 250; ++step) {
      act();
      if (roll(3) == 0) partly();
      if (roll(2) == 0) settle();
      checkUsers();
      if (roll(8) == 0) checkStore();
    }
    finishAll();
    // The remaining jobs wait for IPUs of partitions that no job has: the youngest is cancelled first, so
    // that none starts.
    for (auto id = jobs_.rbegin(); id != jobs_.rend(); ++id) cancel(*id);
    checkNothingIsLeft();
  }

  int roll(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(random_); }
  FakeHost& anyHost() { return std::next(hosts_.begin(), roll(3))->second; }
  std::string anyName() { return "p" + std::to_string(roll(5)); }

  void act() {
    switch (roll(10)) {
      case 0:
      case 1:
        submitOne();
        break;
      case 2:
        cancelOne();
        break;
      case 3:
      case 4:
        runnerActs(anyHost());
        break;
      case 5:
        clientActs();
        break;
      case 6: {
        FakeHost& host = anyHost();
        host.isJoined() ? host.loseConnection() : static_cast<void>(host.join(*core_));
        break;
      }
      case 7:
        holderActs();
        break;
      case 8:
        if (roll(4) == 0) kill();
        if (!fails_ && roll(10) == 0) {
          fails_ = true;
          failCommit();
          fails_ = false;
        }
        break;
      default:
        roll(6) == 0 ? advance(seconds(20 + roll(60))) : advance(seconds(1 + roll(3)));
    }
  }

  void submitOne() {
    v1::SubmitRequest request = inPartition(anyName(), 1 << roll(3));
    v1::PartitionRequest& asked = *request.mutable_spec()->mutable_partition();
    asked.set_update(roll(2) == 0);
    asked.set_remove(roll(3) != 0);
    if (roll(2) == 0) asked.set_reset(roll(2) == 0);
    request.set_lost_after_ms(20000);
    core_->submit({"alice", ""}, request, [this](Result<v1::SubmitReply> reply) {
      if (reply.ok()) jobs_.push_back(reply.value().job().id());
    });
  }

  void cancelOne() {
    if (jobs_.empty()) return;
    v1::CancelRequest request;
    *request.mutable_job() = ref(jobs_[static_cast<std::size_t>(roll(static_cast<int>(jobs_.size())))]);
    core_->cancel({"alice", ""}, request, [](const Result<v1::JobInfo>&) {});
  }

  void runnerActs(FakeHost& host) {
    if (host.runners.empty()) return;
    auto& [id, runner] = *std::next(host.runners.begin(), roll(static_cast<int>(host.runners.size())));
    if (!runner.alive || runner.job_over) return;
    roll(3) == 0 ? host.killRunner(id) : host.finish(id, roll(2));
  }

  void clientActs() {
    virmgrpc::CreatePartitionRequest made;
    made.mutable_requirements()->set_id(anyName());
    made.mutable_requirements()->set_size(8U << roll(3));
    made.set_relocatable(roll(2) == 0);
    virmgrpc::RemovePartitionRequest removed;
    removed.set_partition_id(anyName());
    removed.set_force(roll(3) == 0);
    if (roll(2) == 0)
      vipu().createPartition({"alice", ""}, made, [](const Result<virmgrpc::CreatePartitionReply>&) {});
    else
      vipu().removePartition({"alice", ""}, removed, [](const Result<virmgrpc::RemovePartitionReply>&) {});
  }

  void holderActs() {
    if (!held_.empty() && roll(2) == 0) return static_cast<void>(held_.pop_back());
    v1::HoldRequest request;
    request.set_partition(anyName());
    request.set_holder("poprun");
    request.set_token("aaaabbbbccccdddd" + std::to_string(++tokens_));
    auto held = pods().holdPartition({"alice", ""}, request, [] {});
    if (held.ok()) held_.push_back(std::move(held.value()));
  }

  void kill() {
    core_->pods().storeFailed(unavailable("killed"));
    held_.clear();
    killDaemon();
    startDaemon();
  }

  // The next turn is lost, as when the disk is full.
  void failCommit() {
    settle();
    const std::string fails = " BEGIN SELECT RAISE(ABORT, 'full'); END;";
    ask("CREATE TRIGGER full1 BEFORE INSERT ON partitions" + fails +
        "CREATE TRIGGER full2 BEFORE INSERT ON jobs" + fails);
    for (int i = 0; i < 5; ++i) act();
    settle();
    ask("DROP TRIGGER IF EXISTS full1; DROP TRIGGER IF EXISTS full2;");
    settle();
  }

  void partly() {
    for (auto& [name, host] : hosts_) host.pump(static_cast<std::size_t>(roll(3)));
  }

  // Counts running programs by the partition that they were told.
  void checkUsers() {
    std::map<std::string, int> users;
    for (auto& [name, host] : hosts_) {
      for (const auto& [id, runner] : host.runners) {
        if (!runner.alive || runner.job_over) continue;
        v1::JobSpec spec;
        ASSERT_TRUE(spec.ParseFromString(runner.start.spec()));
        EXPECT_EQ(++users[spec.partition().name()], 1) << spec.partition().name() << " job " << id.first;
      }
    }
  }

  void finishAll() {
    held_.clear();
    for (int round = 0; round < 100; ++round) {
      for (auto& [name, host] : hosts_) {
        if (!host.isJoined()) static_cast<void>(host.join(*core_));
      }
      advance(seconds(3));
      for (auto& [name, host] : hosts_) {
        for (auto& [id, runner] : host.runners) {
          if (runner.alive && !runner.job_over) host.finish(id, 0);
        }
      }
      settle();
      checkUsers();
    }
  }

  void checkNothingIsLeft() {
    checkStore();
    for (const std::int64_t id : jobs_) EXPECT_EQ(job(id).state(), v1::JOB_ENDED) << job(id).reason();
    const auto list = call(pods(), &PodsApi::listPartitions, "root", v1::ListPodPartitionsRequest()).value();
    for (const v1::PartitionInfo& each : list.partitions()) {
      EXPECT_EQ(each.job(), 0) << each.id();
      EXPECT_EQ(each.goes_with_job(), 0) << each.id();
      EXPECT_EQ(each.holder(), "") << each.id();
      EXPECT_EQ(remove(each.id()).code(), Code::kOk) << each.id();
    }
    advance(seconds(2));
    EXPECT_EQ(capacity().free(), 64);
    EXPECT_TRUE(ask("SELECT 1 FROM partition_ipus").empty());
    EXPECT_TRUE(ask("SELECT 1 FROM bindings").empty());
  }

  std::mt19937 random_;
  std::vector<std::int64_t> jobs_;
  std::vector<std::unique_ptr<Source<v1::HoldReply>>> held_;
  int tokens_ = 0;
  bool fails_ = false;
};

TEST_P(PodWalk, KeepsEveryPromise) {
  run(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, PodWalk, ::testing::Range(1U, 31U));

}  // namespace
}  // namespace pop::popdistd::testing
