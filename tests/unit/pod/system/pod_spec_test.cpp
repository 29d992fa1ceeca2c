// SPDX-License-Identifier: Apache-2.0
#include "pod/system/pod_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pop::pod {
namespace {

using ::testing::HasSubstr;

TEST(PodSpec, PresetsHaveTheIpusOfTheirName) {
  for (const auto& [name, ipus] : {std::pair{"pod4", 4},
                                   {"pod16", 16},
                                   {"pod64", 64},
                                   {"pod128", 128},
                                   {"pod256", 256},
                                   {"mk1-64", 64},
                                   {"pod64-torus", 64},
                                   {"pod64-twist", 64},
                                   {"pod65536", 65536}}) {
    Result<PodSpec> spec = podSpecByName(name);
    ASSERT_TRUE(spec.ok()) << name;
    EXPECT_EQ(spec->ipuCount(), ipus);
  }
}

TEST(PodSpec, NoIldHasMoreThan64Ipus) {
  for (const PodSpec& preset : podPresets()) EXPECT_LE(preset.ildIpus(), 64) << preset.name;
  EXPECT_EQ(podSpecByName("pod256")->ilds(), 4);
}

TEST(PodSpec, BowComputesFasterOverTheSameLinks) {
  PodSpec mk2 = podSpecByName("pod16").value();
  PodSpec bow = podSpecByName("bow-pod16").value();
  EXPECT_EQ(bow.ipuCount(), mk2.ipuCount());
  EXPECT_EQ(bow.links.rail_bytes_per_s, mk2.links.rail_bytes_per_s);
  EXPECT_DOUBLE_EQ(bow.ipu_peak_flops_per_s / mk2.ipu_peak_flops_per_s, 1.4);
}

TEST(PodSpec, NamesAreFoundInAnyCase) {
  EXPECT_EQ(podSpecByName("Bow-POD64")->name, "bow-pod64");
}

TEST(PodSpec, AnUnknownNameIsAnsweredWithTheList) {
  const Result<PodSpec> spec = podSpecByName("pod17");
  ASSERT_EQ(spec.code(), Code::kInvalidArgument);
  EXPECT_THAT(spec.status().message(), HasSubstr("'pod17'"));
  EXPECT_THAT(spec.status().message(), HasSubstr("pod4, pod16, pod64, pod128, pod256, bow-pod16"));
}

TEST(SmallestPod, IsTheFirstMk2PresetThatIsLargeEnough) {
  EXPECT_EQ(smallestPodFor(1)->name, "pod4");
  EXPECT_EQ(smallestPodFor(4)->name, "pod4");
  EXPECT_EQ(smallestPodFor(5)->name, "pod16");
  EXPECT_EQ(smallestPodFor(64)->name, "pod64");
  EXPECT_EQ(smallestPodFor(65)->name, "pod128");
  EXPECT_EQ(smallestPodFor(256)->name, "pod256");
  EXPECT_EQ(smallestPodFor(257)->name, "pod1024");
}

TEST(SmallestPod, SaysWhatIsLargestAndWhatToReduce) {
  const Result<PodSpec> spec = smallestPodFor(65537);
  ASSERT_EQ(spec.code(), Code::kInvalidArgument);
  EXPECT_THAT(spec.status().message(), HasSubstr("65537 IPUs"));
  EXPECT_THAT(spec.status().message(), HasSubstr("pod65536, has 65536"));
  EXPECT_THAT(spec.status().message(), HasSubstr("reduce the number of replicas"));
}

TEST(SmallestPod, RefusesNoIpusAtAll) {
  EXPECT_EQ(smallestPodFor(0).code(), Code::kInvalidArgument);
}

TEST(LinkSpec, BandwidthsAreThoseOfGraphcoresLadderModel) {
  const LinkSpec links;
  EXPECT_EQ(links.rail_bytes_per_s, 29'205'777'612u);  // 2 links x 16 GiB/s x 0.85
  EXPECT_EQ(links.rung_bytes_per_s, 58'411'555'225u);  // 4 links
  EXPECT_EQ(links.cross_rung_bytes_per_s, links.rail_bytes_per_s);
}

}  // namespace
}  // namespace pop::pod
