// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/instances_here.h"

#include <gtest/gtest.h>

#include "proto/popdist/v1/job.pb.h"

namespace pop::agent {
namespace {

class InstancesHere : public ::testing::Test {
 protected:
  void addHosts(int count, int slots = 0) {
    for (int i = 0; i < count; ++i) spec_.add_hosts()->set_slots(slots);
  }
  int count() const { return instancesOnFirstHost(spec_.SerializeAsString()).value(); }

  popdist::v1::JobSpec spec_;
};

TEST_F(InstancesHere, AreAllWithoutOtherHosts) {
  spec_.add_programs()->set_num_instances(3);
  spec_.add_programs();
  EXPECT_EQ(count(), 4);
  addHosts(1, 2);
  EXPECT_EQ(count(), 4);
  spec_.set_num_instances(8);
  EXPECT_EQ(count(), 8);
}

TEST_F(InstancesHere, AreDividedAmongHosts) {
  spec_.set_num_instances(7);
  addHosts(3);
  EXPECT_EQ(count(), 3);
}

TEST_F(InstancesHere, AreAsManyAsFit) {
  spec_.set_num_instances(7);
  addHosts(2, 5);
  EXPECT_EQ(count(), 5);
  spec_.set_num_instances(4);
  EXPECT_EQ(count(), 4);
}

TEST(InstancesHereOfNoJob, AreAMistake) {
  EXPECT_EQ(instancesOnFirstHost("\xff").code(), Code::kInvalidArgument);
  popdist::v1::JobSpec spec;
  spec.set_num_instances(-1);
  EXPECT_EQ(instancesOnFirstHost(spec.SerializeAsString()).value(), 0) << "which admission refuses";
}

}  // namespace
}  // namespace pop::agent
