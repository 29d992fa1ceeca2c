// SPDX-License-Identifier: Apache-2.0
#include "pod/system/replica_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop::pod {
namespace {

using ::testing::HasSubstr;

ReplicaLayout layoutOfPod(const char* pod, int replicas, int ipus_per_replica) {
  return {podSpecByName(pod).value(), replicas, ipus_per_replica};
}

void expectRefused(const ReplicaLayout& layout, const char* why) {
  const Status status = validate(layout);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr(why));
}

TEST(ReplicaLayout, OnePodIsOneIldHoweverFewReplicas) {
  for (const int replicas : {1, 2, 3, 5, 16}) {
    const ReplicaLayout layout = layoutOfPod("pod16", replicas, 1);
    EXPECT_TRUE(validate(layout).ok()) << replicas;
    EXPECT_EQ(layout.ildCount(), 1);
    EXPECT_EQ(layout.replicasPerIld(), replicas);
  }
}

TEST(ReplicaLayout, ReplicasFillOnePodAfterTheOther) {
  const ReplicaLayout layout = layoutOfPod("pod256", 24, 8);
  EXPECT_TRUE(validate(layout).ok());
  EXPECT_EQ(layout.ildCount(), 3);
  EXPECT_EQ(layout.replicasPerIld(), 8);
  EXPECT_EQ(layout.ipusPerIld(), 64);
}

TEST(ReplicaLayout, AReplicaMayFillAWholePod) {
  EXPECT_TRUE(validate(layoutOfPod("pod256", 4, 64)).ok());
}

TEST(ReplicaLayout, RefusesAnythingButAPowerOfTwoOfIpus) {
  expectRefused(layoutOfPod("pod16", 2, 3), "power of two");
  expectRefused(layoutOfPod("pod16", 2, 0), "power of two");
}

TEST(ReplicaLayout, RefusesNoReplicas) {
  expectRefused(layoutOfPod("pod16", 0, 1), "at least 1 replica");
}

TEST(ReplicaLayout, RefusesMoreIpusThanThereAre) {
  expectRefused(layoutOfPod("pod16", 5, 4), "takes 20 IPUs and there are 16");
  expectRefused(layoutOfPod("pod16", 2'000'000'000, 16), "takes 32000000000 IPUs");
}

TEST(ReplicaLayout, RefusesAReplicaLargerThanAnIld) {
  expectRefused(layoutOfPod("pod256", 2, 128), "must fit in one IPU-Link domain");
}

TEST(ReplicaLayout, RefusesAnUnevenSpreadAndNamesTheNextEvenOnes) {
  expectRefused(layoutOfPod("pod128", 96, 1), "use 64 or 128 replicas");
  expectRefused(layoutOfPod("pod256", 20, 8), "use 16 or 24 replicas");
}

TEST(ReplicaLayout, RefusesReplicasThatLieInTwoIlds) {
  PodSpec spec;
  spec.name = "three machines";
  spec.shape = {.ilds = 2, .machines_per_ild = 3};
  expectRefused({spec, 3, 8}, "would lie in two IPU-Link domains");
}

TEST(ReplicaLayout, RefusesAPodLargerThanAnIld) {
  PodSpec spec;
  spec.name = "tower";
  spec.shape.machines_per_ild = 17;
  expectRefused({spec, 1, 1}, "at most 64 IPUs");
}

TEST(ReplicaLayout, RefusesLargeReplicasOnABarleyTwist) {
  EXPECT_TRUE(validate(layoutOfPod("pod64-twist", 64, 1)).ok());
  expectRefused(layoutOfPod("pod64-twist", 16, 4), "barleyTwist on a barley-twist: use 1 IPU per replica");
}

}  // namespace
}  // namespace pop::pod
