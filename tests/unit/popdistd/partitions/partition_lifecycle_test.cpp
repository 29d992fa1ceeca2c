// SPDX-License-Identifier: Apache-2.0
// A partition's life: configuration, resets, jobs, machines that are lost, and the proof that its IPUs are
// unused.
#include <gtest/gtest.h>

#include "tests/unit/popdistd/partitions/fixture.h"

namespace pop::vipu {
namespace {

class Life : public ::testing::Test {
 protected:
  Life() { addPod(table_, {.machines = 4}); }

  static void expect(const Result<Change>& change, PartitionAction action) {
    ASSERT_TRUE(change.ok()) << change.status().message();
    ASSERT_EQ(change.value().size(), 1U);
    EXPECT_EQ(change.value().front().action, action);
  }
  std::string wire(std::string_view id = "p") const { return stateText(*table_.find(id)); }
  int firstIpu(std::string_view id = "p") const { return table_.find(id)->spec.ipus.front().topology_id; }
  static std::string machine(int position) { return machineName("c", 0, position); }
  Change lose(int position, Time now = at(0)) {
    return table_.machineLost(machine(position), "silent", now).value();
  }

  PartitionTable table_;
};

TEST_F(Life, FromCreationToProvedRelease) {
  expect(table_.create(asks("p", 4), at(0)), PartitionAction::kConfigure);
  EXPECT_EQ(wire(), "PENDING/CREATING");
  EXPECT_EQ(table_.find("p")->owner, "alice");
  EXPECT_EQ(table_.find("p")->created, at(0));
  expect(table_.configured("p", at(1)), PartitionAction::kNone);
  EXPECT_EQ(wire(), "ACTIVE/IDLE");
  EXPECT_EQ(table_.find("p")->changed, at(1));
  expect(table_.remove("p", false, at(2)), PartitionAction::kRelease);
  EXPECT_EQ(wire(), "ACTIVE/REMOVING");
  EXPECT_EQ(table_.capacityOf("a").value().free, 12) << "its IPUs are its own until the proof";
  const auto gone = table_.released("p", at(3));
  expect(gone, PartitionAction::kForget);
  EXPECT_TRUE(gone.value().front().before);
  EXPECT_FALSE(gone.value().front().after);
  EXPECT_EQ(table_.find("p"), nullptr);
  EXPECT_EQ(table_.capacityOf("a").value().free, 16);
  create(table_, asks("p", 4));  // its name is free
}

TEST_F(Life, WhatHasNoMeaningInAStateIsRefusedAndChangesNothing) {
  create(table_, asks("p", 4));
  const Partition before = *table_.find("p");
  EXPECT_EQ(table_.reset("p", true, at(1)).code(), Code::kFailedPrecondition);
  EXPECT_EQ(table_.released("p", at(1)).code(), Code::kFailedPrecondition);
  EXPECT_EQ(table_.notReleased("p", "", at(1)).code(), Code::kFailedPrecondition);
  EXPECT_EQ(table_.forceRelease("p", at(1)).code(), Code::kFailedPrecondition);
  EXPECT_EQ(table_.bind("p", "7").code(), Code::kFailedPrecondition) << "it is not active";
  EXPECT_EQ(*table_.find("p"), before);
  ASSERT_TRUE(table_.remove("p", false, at(1)).ok());
  EXPECT_EQ(table_.remove("p", true, at(1)).code(), Code::kFailedPrecondition);
  EXPECT_EQ(table_.configured("p", at(1)).code(), Code::kFailedPrecondition);
}

TEST_F(Life, AFailedConfigurationIsTriedAgainSoManyTimes) {
  create(table_, asks("p", 4));
  for (int retry = 1; retry <= 3; ++retry) {
    expect(table_.configFailed("p", "no sync", at(retry)), PartitionAction::kConfigure);
    EXPECT_EQ(wire(), "PENDING/RESETTING");
    EXPECT_EQ(table_.find("p")->auto_reset.retry_count, retry);
    EXPECT_EQ(table_.find("p")->auto_reset.last, at(retry));
  }
  expect(table_.configFailed("p", "no sync", at(4)), PartitionAction::kNone);
  EXPECT_EQ(wire(), "ERROR/FAILED");
  EXPECT_EQ(table_.find("p")->errors.size(), 4U);
  EXPECT_EQ(table_.find("p")->auto_reset.last, at(3));

  expect(table_.reset("p", false, at(5)), PartitionAction::kConfigure);
  EXPECT_EQ(table_.find("p")->auto_reset.retry_count, 0) << "a user's reset counts anew";
  ASSERT_TRUE(table_.configured("p", at(6)).ok());
  EXPECT_TRUE(table_.find("p")->errors.empty());
}

TEST_F(Life, WithoutAutoResetTheFirstFailureIsTheLast) {
  CreateRequest request = asks("p", 4);
  request.disable_auto_reset = true;
  create(table_, request);
  expect(table_.configFailed("p", "no sync", at(1)), PartitionAction::kNone);
  EXPECT_EQ(wire(), "ERROR/FAILED");
}

TEST_F(Life, RetriesOfLongAgoDoNotCount) {
  createActive(table_, asks("p", 4));
  for (int day = 0; day < 10; ++day) {
    const Time now = at(day * 86'400);
    ASSERT_EQ(lose(0, now).size(), 1U);
    ASSERT_TRUE(table_.machineFound(machine(0)).ok());
    ASSERT_EQ(table_.dueResets(now + std::chrono::seconds(60)).size(), 1U) << "day " << day;
    EXPECT_EQ(table_.find("p")->auto_reset.retry_count, 1);
    ASSERT_TRUE(table_.configured("p", now + std::chrono::seconds(61)).ok());
  }
}

TEST_F(Life, ARelocatablePartitionLeavesIpusThatCannotBeConfigured) {
  CreateRequest request = asks("p", 4);
  request.relocatable = true;
  create(table_, request);
  EXPECT_EQ(firstIpu(), 0);
  const auto moved = table_.configFailed("p", "no sync", at(1));
  EXPECT_EQ(firstIpu(), 4);
  EXPECT_EQ(moved.value().front().before->spec.ipus.front().topology_id, 0);
  create(table_, asks("q", 4));
  EXPECT_EQ(firstIpu("q"), 0) << "the old ones are free";
  create(table_, asks("r", 8));
  ASSERT_TRUE(table_.configFailed("p", "no sync", at(1)).ok());
  EXPECT_EQ(firstIpu(), 4) << "there are no others";
}

TEST_F(Life, AResetMayRelocateUntilItHasSucceeded) {
  createActive(table_, asks("p", 4));
  expect(table_.reset("p", true, at(1)), PartitionAction::kConfigure);
  EXPECT_EQ(firstIpu(), 0) << "nothing is wrong with its IPUs";
  ASSERT_TRUE(table_.configFailed("p", "no sync", at(2)).ok());
  EXPECT_EQ(firstIpu(), 4);
  ASSERT_TRUE(table_.configured("p", at(3)).ok());
  expect(table_.reset("p", false, at(4)), PartitionAction::kConfigure);
  ASSERT_TRUE(table_.configFailed("p", "no sync", at(5)).ok());
  EXPECT_EQ(firstIpu(), 4) << "as its creation said";
}

TEST_F(Life, AJobHoldsOnePartitionAndAPartitionOneJob) {
  createActive(table_, asks("p", 4));
  createActive(table_, asks("q", 4));
  expect(table_.bind("p", "7"), PartitionAction::kNone);
  EXPECT_TRUE(table_.bind("p", "7").value().empty()) << "it holds it already";
  EXPECT_EQ(table_.bind("p", "8").code(), Code::kFailedPrecondition);
  EXPECT_EQ(table_.bind("q", "7").code(), Code::kFailedPrecondition);
  EXPECT_EQ(table_.bind("q", "").code(), Code::kInvalidArgument);
  EXPECT_EQ(table_.heldBy("7")->id, "p");
  expect(table_.unbind("7"), PartitionAction::kNone);
  EXPECT_EQ(table_.heldBy("7"), nullptr);
  expect(table_.bind("q", "7"), PartitionAction::kNone);
}

TEST_F(Life, AJobPreventsResetAndRemoveUnlessItIsToBeCancelled) {
  createActive(table_, asks("p", 4));
  ASSERT_TRUE(table_.bind("p", "7").ok());
  const auto refused = table_.remove("p", false, at(1));
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.status().message().find("'7'"), std::string::npos) << refused.status().message();
  EXPECT_EQ(table_.reset("p", true, at(1)).code(), Code::kFailedPrecondition);

  const auto forced = table_.remove("p", true, at(2));
  expect(forced, PartitionAction::kRelease);
  EXPECT_EQ(forced.value().front().cancel_job, "7");
  EXPECT_EQ(table_.released("p", at(3)).code(), Code::kFailedPrecondition) << "the job has not ended";
  ASSERT_TRUE(table_.unbind("7").ok());
  expect(table_.released("p", at(4)), PartitionAction::kForget);
}

TEST_F(Life, QuarantineKeepsTheIpusUntilProofOrForce) {
  for (const char* const id : {"proved", "tried", "forced"}) {
    createActive(table_, asks(id, 4));
    ASSERT_TRUE(table_.remove(id, false, at(1)).ok());
    expect(table_.notReleased(id, "h0 does not answer", at(2)), PartitionAction::kNone);
    EXPECT_EQ(wire(id), "ERROR/REMOVING");
    EXPECT_EQ(table_.find(id)->errors.back(), "h0 does not answer");
  }
  EXPECT_EQ(table_.capacityOf("a").value().free, 4);
  expect(table_.released("proved", at(3)), PartitionAction::kForget);
  expect(table_.remove("tried", false, at(3)), PartitionAction::kRelease);
  expect(table_.released("tried", at(3)), PartitionAction::kForget);
  expect(table_.forceRelease("forced", at(3)), PartitionAction::kForget);
  EXPECT_EQ(table_.capacityOf("a").value().free, 16);
}

TEST_F(Life, ForceReleasesAJobThatNobodyHearsOf) {
  createActive(table_, asks("p", 4));
  ASSERT_TRUE(table_.bind("p", "7").ok());
  ASSERT_TRUE(table_.remove("p", true, at(1)).ok());
  ASSERT_TRUE(table_.notReleased("p", "h0 is lost", at(2)).ok());
  EXPECT_EQ(table_.released("p", at(3)).code(), Code::kFailedPrecondition);
  expect(table_.forceRelease("p", at(3)), PartitionAction::kForget);
  EXPECT_EQ(table_.heldBy("7"), nullptr);
}

TEST_F(Life, ALostMachineStrikesItsPartitionsOnly) {
  createActive(table_, asks("p", 8));
  createActive(table_, asks("q", 4));
  create(table_, asks("r", 4));
  const Change change = lose(1);
  ASSERT_EQ(change.size(), 1U);
  EXPECT_EQ(change.front().after->id, "p");
  EXPECT_EQ(wire("p"), "ERROR/IDLE");
  EXPECT_EQ(wire("q"), "ACTIVE/IDLE");
  EXPECT_NE(table_.find("p")->errors.front().find(machine(1)), std::string::npos);
  EXPECT_TRUE(lose(1).empty()) << "it is lost already";
  EXPECT_EQ(lose(3).front().after->id, "r") << "while it is created, too";
}

TEST_F(Life, APartitionIsResetWhenItsMachineIsBackAndItsJobHasEnded) {
  createActive(table_, asks("p", 4));
  ASSERT_TRUE(table_.bind("p", "7").ok());
  lose(0, at(10));
  EXPECT_TRUE(table_.dueResets(at(60)).empty()) << "the machine is lost";
  ASSERT_TRUE(table_.machineFound(machine(0)).ok());
  EXPECT_TRUE(table_.dueResets(at(61)).empty()) << "the job is there";
  ASSERT_TRUE(table_.unbind("7").ok());
  const Change change = table_.dueResets(at(62));
  ASSERT_EQ(change.size(), 1U);
  EXPECT_EQ(change.front().action, PartitionAction::kConfigure);
  EXPECT_EQ(wire(), "PENDING/RESETTING");
  EXPECT_EQ(table_.find("p")->auto_reset.retry_count, 1);
  EXPECT_TRUE(table_.dueResets(at(63)).empty());
}

TEST_F(Life, AutoResetWaitsAWhile) {
  createActive(table_, asks("p", 4));
  lose(0, at(10));
  ASSERT_TRUE(table_.machineFound(machine(0)).ok());
  EXPECT_TRUE(table_.dueResets(at(14)).empty());
  EXPECT_EQ(table_.dueResets(at(15)).size(), 1U);
}

TEST_F(Life, ARelocatablePartitionLeavesALostMachine) {
  CreateRequest request = asks("p", 4);
  request.relocatable = true;
  createActive(table_, request);
  lose(0, at(10));
  ASSERT_EQ(table_.dueResets(at(20)).size(), 1U);
  EXPECT_EQ(firstIpu(), 4);
  EXPECT_EQ(table_.capacityOf("a").value().unusable, 4);
}

TEST_F(Life, AUserMayRelocateAPartitionOnce) {
  createActive(table_, asks("p", 4));
  lose(0);
  EXPECT_EQ(table_.reset("p", false, at(1)).code(), Code::kFailedPrecondition) << "its machine is lost";
  EXPECT_EQ(wire(), "ERROR/IDLE");
  expect(table_.reset("p", true, at(1)), PartitionAction::kConfigure);
  EXPECT_EQ(firstIpu(), 4);
  EXPECT_FALSE(table_.find("p")->relocatable) << "what its creation said stays";
}

TEST_F(Life, RelocationNeedsRoom) {
  createActive(table_, asks("p", 8));
  create(table_, asks("q", 1));
  ASSERT_EQ(firstIpu("q"), 8);
  lose(0);
  EXPECT_EQ(table_.reset("p", true, at(1)).code(), Code::kResourceExhausted);
  removeAll(table_, "q");
  expect(table_.reset("p", true, at(1)), PartitionAction::kConfigure);
  EXPECT_EQ(firstIpu(), 8);
}

TEST_F(Life, ARelocatablePartitionLeavesADrainedMachineIfItCan) {
  createActive(table_, asks("p", 8));
  createActive(table_, asks("q", 8));
  ASSERT_TRUE(table_.drain(machine(0), "fan").ok());
  EXPECT_EQ(wire("p"), "ACTIVE/IDLE");
  expect(table_.reset("p", true, at(1)), PartitionAction::kConfigure);
  EXPECT_EQ(firstIpu("p"), 0) << "there is no room";
  ASSERT_TRUE(table_.configured("p", at(1)).ok());
  removeAll(table_, "q");
  expect(table_.reset("p", true, at(2)), PartitionAction::kConfigure);
  EXPECT_EQ(firstIpu("p"), 8);
}

TEST_F(Life, AChangeThatCouldNotBeKeptIsTakenBack) {
  createActive(table_, asks("p", 4));
  const auto before = table_.partitions();
  const Capacity capacity = table_.capacityOf("a").value();
  const Change created = table_.create(asks("q", 8), at(1)).value();
  const Change bound = table_.bind("p", "7").value();
  table_.revert(bound);
  table_.revert(created);
  EXPECT_EQ(table_.partitions(), before);
  EXPECT_EQ(table_.heldBy("7"), nullptr);
  EXPECT_EQ(table_.capacityOf("a").value().free, capacity.free);
  ASSERT_TRUE(table_.remove("p", false, at(2)).ok());
  table_.revert(table_.released("p", at(2)).value());
  EXPECT_EQ(stateOf(table_, "p"), PartitionState::kRemoving);
}

TEST_F(Life, ListsWhatAUserMaySee) {
  addPod(table_, {.cluster = "d"}, "bobs");
  std::vector<std::string> machines = table_.inventory().allocation("bobs")->agents;
  ASSERT_TRUE(table_.setAllocation({"bobs", "d", machines, {"bob"}}).ok());
  CreateRequest request = asks("b", 4);
  request.owner = "bob";
  request.requirements.allocation = "bobs";
  create(table_, request);
  create(table_, asks("a", 4));
  EXPECT_EQ(table_.list("", "alice").value(), (std::vector{table_.find("a")}));
  EXPECT_EQ(table_.list("", "bob").value(), (std::vector{table_.find("a"), table_.find("b")}));
  EXPECT_EQ(table_.list("bobs", "bob").value(), (std::vector{table_.find("b")}));
  EXPECT_EQ(table_.list("", "").value().size(), 2U) << "one who may see all";
}

}  // namespace
}  // namespace pop::vipu
