// SPDX-License-Identifier: Apache-2.0
// 10,000 calls in any order, of users, machines, jobs and a store that sometimes fails; a few rules hold
// after each. A failure names its seed.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "common/base/random.h"
#include "tests/unit/popdistd/partitions/fixture.h"

namespace pop::vipu {
namespace {

constexpr int kIlds = 3;
constexpr int kMachines = 5;

class Walk {
 public:
  explicit Walk(std::uint64_t seed) : random_(seed) {
    addPod(table_, {.ilds = kIlds, .machines = kMachines, .topology = IldTopology::kTorus}, "a");
    addPod(table_, {.cluster = "d", .ilds = 2, .machines = 2}, "b");
  }

  void step() {
    now_ += std::chrono::milliseconds(random_.below(3000));
    const auto before = table_.partitions();
    const Result<Change> change = call();
    checkReported(before, change);
    if (change.ok() && random_.below(10) == 0) {
      table_.revert(change.value());
      EXPECT_EQ(table_.partitions(), before) << "taken back";
    } else if (change.ok()) {
      stored_.insert(change.value());
    }
    checkOwners();
    EXPECT_EQ(stored_.records, table_.partitions()) << "what a store would have";
  }

  // A table that begins with what the store has continues as this one.
  void checkRestore() {
    PartitionTable other;
    addPod(other, {.ilds = kIlds, .machines = kMachines, .topology = IldTopology::kTorus}, "a");
    addPod(other, {.cluster = "d", .ilds = 2, .machines = 2}, "b");
    std::vector<Partition> records;
    for (const auto& [id, partition] : stored_.records) records.push_back(partition);
    const Status restored = other.restore(records);
    ASSERT_TRUE(restored.ok()) << restored.message();
    EXPECT_EQ(other.partitions(), table_.partitions());
  }

  std::set<PartitionState> seen;

 private:
  // A store's records, by the steps alone.
  struct Stored {
    PartitionIndex::Partitions records;
    void insert(const Change& change) {
      for (const PartitionStep& step : change) {
        if (step.after) records.insert_or_assign(step.after->id, *step.after);
        if (!step.after) records.erase(step.before->id);
      }
    }
  };

  std::string anyPartition() { return "p" + std::to_string(random_.below(25)); }
  std::string anyJob() { return std::to_string(random_.below(12)); }
  std::string anyMachine() {
    return random_.below(4) == 0
               ? machineName("d", static_cast<int>(random_.below(2)), static_cast<int>(random_.below(2)))
               : machineName("c", static_cast<int>(random_.below(kIlds)),
                             static_cast<int>(random_.below(kMachines)));
  }

  Result<Change> create() {
    CreateRequest request = asks(anyPartition(), 1U << random_.below(6));
    request.requirements.num_segments = random_.below(4) == 0 ? 2 : 0;
    request.requirements.num_gcds = random_.below(4) == 0 ? 2 : 0;
    request.disable_auto_reset = random_.below(4) == 0;
    request.relocatable = random_.below(2) == 0;
    if (random_.below(6) == 0) {
      request.requirements.cluster = "c";
      request.requirements.size = 0;
      request.requirements.num_segments = 0;
      const int first = static_cast<int>(random_.below(kMachines * kMachineIpus - 1));
      const int ild = static_cast<int>(random_.below(kIlds));
      request.requirements.ipus = {{ild, 0, first, 0}, {ild, 0, first + 1, 0}};
    }
    return table_.create(request, now_);
  }

  Result<Change> machine() {
    switch (random_.below(5)) {
      case 0:
        return table_.machineLost(anyMachine(), "silent", now_);
      case 1:
        EXPECT_TRUE(table_.drain(anyMachine(), "fan").ok());
        return Change{};
      case 2:
        EXPECT_TRUE(table_.resume(anyMachine()).ok());
        return Change{};
      default:
        EXPECT_TRUE(table_.machineFound(anyMachine()).ok());
        return Change{};
    }
  }

  Result<Change> call() {
    const bool flag = random_.below(2) == 0;
    switch (random_.below(14)) {
      case 0:
      case 1:
      case 2:
        return create();
      case 3:
      case 4:
        return table_.configured(anyPartition(), now_);
      case 5:
        return table_.configFailed(anyPartition(), "no sync", now_);
      case 6:
        return table_.reset(anyPartition(), flag, now_);
      case 7:
        return table_.remove(anyPartition(), flag, now_);
      case 8:
        return table_.released(anyPartition(), now_);
      case 9:
        return flag ? table_.notReleased(anyPartition(), "h0", now_)
                    : table_.forceRelease(anyPartition(), now_);
      case 10:
        return table_.bind(anyPartition(), anyJob());
      case 11:
        return table_.unbind(anyJob());
      case 12:
        return machine();
      default:
        return table_.dueResets(now_);
    }
  }

  // A refusal changes nothing, and a change is exactly what its steps say.
  void checkReported(const PartitionIndex::Partitions& before, const Result<Change>& change) {
    if (!change.ok()) {
      EXPECT_EQ(table_.partitions(), before) << change.status().message();
      return;
    }
    auto expected = before;
    for (const PartitionStep& step : change.value()) {
      const std::string& id = step.before ? step.before->id : step.after->id;
      const auto found = expected.find(id);
      ASSERT_EQ(found != expected.end(), step.before.has_value()) << id;
      if (step.before) {
        EXPECT_EQ(found->second, *step.before);
      }
      if (step.after) expected.insert_or_assign(id, *step.after);
      if (!step.after) expected.erase(id);
      if (step.action == PartitionAction::kConfigure) checkConfigurable(*step.after);
    }
    EXPECT_EQ(table_.partitions(), expected);
  }

  // A partition that a job holds or that has a lost machine is never reset.
  void checkConfigurable(const Partition& partition) {
    EXPECT_TRUE(partition.job.empty());
    for (const PartitionIpu& ipu : partition.spec.ipus)
      EXPECT_FALSE(table_.inventory()
                       .agentAt(partition.spec.cluster, ipu.ild_topology_id, ipu.topology_id / kMachineIpus)
                       ->lost);
  }

  // One IPU one owner, one job one partition; numbers agree with the partitions.
  void checkOwners() {
    std::set<std::tuple<std::string, int, int>> ipus;
    std::set<std::string> jobs;
    std::map<std::string, int> owned;
    for (const auto& [id, partition] : table_.partitions()) {
      seen.insert(partition.state);
      EXPECT_EQ(id, partition.id);
      EXPECT_NE(partition.state, PartitionState::kRemoved);
      EXPECT_EQ(partition.spec.ipus.size(), static_cast<std::size_t>(partition.spec.size));
      EXPECT_LE(partition.auto_reset.retry_count, partition.auto_reset.max_retries);
      for (const PartitionIpu& ipu : partition.spec.ipus) {
        EXPECT_TRUE(ipus.emplace(partition.spec.cluster, ipu.ild_topology_id, ipu.topology_id).second) << id;
        EXPECT_TRUE(contains(
            table_.inventory().ipusOf(*table_.inventory().allocation(partition.spec.allocation)), ipu));
      }
      owned[partition.spec.allocation] += partition.spec.size;
      if (partition.job.empty()) continue;
      EXPECT_TRUE(jobs.insert(partition.job).second);
      EXPECT_EQ(table_.heldBy(partition.job), &partition);
    }
    for (const char* const allocation : {"a", "b"}) {
      const Capacity capacity = table_.capacityOf(allocation).value();
      EXPECT_EQ(capacity.owned, owned[allocation]);
      EXPECT_LE(capacity.largest_free_block, capacity.free);
      EXPECT_EQ(capacity.owned + capacity.unusable + capacity.free, capacity.ipus);
    }
  }

  SplitMix64 random_;
  PartitionTable table_;
  Stored stored_;
  Time now_ = at(0);
};

TEST(PartitionRandomWalk, KeepsItsRules) {
  std::set<PartitionState> seen;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Walk walk(seed);
    for (int i = 0; i < 2000; ++i) {
      SCOPED_TRACE("call " + std::to_string(i));
      walk.step();
      if (i % 100 == 0) walk.checkRestore();
      if (::testing::Test::HasFailure()) return;
    }
    seen.merge(walk.seen);
  }
  EXPECT_EQ(seen.size(), 7U) << "the walk comes into every state but removed";
}

}  // namespace
}  // namespace pop::vipu
