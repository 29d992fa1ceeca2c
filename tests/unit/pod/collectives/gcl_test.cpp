// SPDX-License-Identifier: Apache-2.0
// The thresholds of poplibs, as ReplicatedCollectives.cpp has them.
#include "pod/collectives/gcl.h"

#include <gtest/gtest.h>

namespace pop::pod {
namespace {

ReplicaLayout layoutOfGcl(const char* pod, int replicas, int ipus_per_replica = 1) {
  return {podSpecByName(pod).value(), replicas, ipus_per_replica};
}

void expectMethods(const ReplicaLayout& layout, std::uint64_t bytes, RingMethod scatter, RingMethod gather) {
  const GclMethods methods = automaticMethods(layout, layout.replicas, bytes);
  EXPECT_EQ(methods.reduce_scatter, scatter) << layout.replicas << " replicas, " << bytes;
  EXPECT_EQ(methods.all_gather, gather) << layout.replicas << " replicas, " << bytes;
}

TEST(AutomaticMethods, UpToTwoReplicasAndLargeOnesOnAMeshGoClockwise) {
  for (const std::uint64_t bytes : {1ULL, 1ULL << 30}) {
    expectMethods(layoutOfGcl("pod4", 2), bytes, RingMethod::kClockwise, RingMethod::kClockwise);
    expectMethods(layoutOfGcl("pod64", 16, 4), bytes, RingMethod::kClockwise, RingMethod::kClockwise);
  }
}

TEST(AutomaticMethods, LargeReplicasOnATorusMeetInTheMiddle) {
  expectMethods(layoutOfGcl("pod64-torus", 16, 4), 1 << 30, RingMethod::kMeetInTheMiddle,
                RingMethod::kMeetInTheMiddle);
}

TEST(AutomaticMethods, ThePairIsTakenFromThePublishedSizesOn) {
  for (const auto& [replicas, bytes] :
       {std::pair{4, 622'592ULL}, {3, 622'592ULL}, {8, 2'490'368ULL}, {16, 19'922'944ULL}}) {
    const ReplicaLayout layout = layoutOfGcl("pod16", replicas);
    expectMethods(layout, bytes - 1, RingMethod::kMeetInTheMiddle, RingMethod::kMeetInTheMiddle);
    expectMethods(layout, bytes, RingMethod::kMeetInTheMiddle, RingMethod::kBidirectionalPair);
    expectMethods(layout, 2 * bytes - 1, RingMethod::kMeetInTheMiddle, RingMethod::kBidirectionalPair);
    expectMethods(layout, 2 * bytes, RingMethod::kBidirectionalPair, RingMethod::kBidirectionalPair);
  }
}

TEST(AutomaticMethods, MoreThan16ReplicasNeverTakeThePair) {
  expectMethods(layoutOfGcl("pod64", 64), 1ULL << 40, RingMethod::kMeetInTheMiddle,
                RingMethod::kMeetInTheMiddle);
}

TEST(AutomaticMethods, ABarleyTwistGoesFourWaysFromThePublishedSizesOn) {
  const ReplicaLayout twist = layoutOfGcl("pod64-twist", 64);
  expectMethods(twist, 196'607, RingMethod::kMeetInTheMiddle, RingMethod::kMeetInTheMiddle);
  expectMethods(twist, 196'608, RingMethod::kMeetInTheMiddle, RingMethod::kQuadDirectional);
  expectMethods(twist, 64 * 196'608 - 1, RingMethod::kMeetInTheMiddle, RingMethod::kQuadDirectional);
  expectMethods(twist, 64 * 196'608, RingMethod::kQuadDirectional, RingMethod::kQuadDirectional);
}

TEST(Gcl, OnlySamePlacesTalkAcrossIlds) {
  const ReplicaLayout layout = layoutOfGcl("pod128", 128);
  for (const Phase& phase : gclAllReduce(layout, 128).phases) {
    for (int round = 0; round < phase.rounds; ++round) {
      phase.transfers(round, [](const Transfer& transfer) {
        if (transfer.from / 64 != transfer.to / 64) {
          EXPECT_EQ(transfer.from % 64, transfer.to % 64);
        }
      });
    }
  }
}

TEST(Gcl, TakesARingInsideEachIldAndOneAcross) {
  EXPECT_EQ(gclAllReduce(layoutOfGcl("pod16", 16), 16).rounds(), 2 * 15);
  EXPECT_EQ(gclAllReduce(layoutOfGcl("pod256", 256), 256).rounds(), 2 * 63 + 2 * 3);
}

TEST(GclDeathTest, RefusesALayoutThatDoesNotFit) {
  EXPECT_DEATH(gclAllReduce(layoutOfGcl("pod4", 5), 5), "internal error");
}

}  // namespace
}  // namespace pop::pod
