// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/pod_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/text.h"
#include "pod/system/pod_spec.h"
#include "poprun/cli/option_table.h"

namespace pop {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> namesOf(const std::vector<pod::predict::SystemShape>& shapes) {
  std::vector<std::string> names;
  for (const pod::predict::SystemShape& shape : shapes) names.push_back(shape.name);
  return names;
}

TEST(PodTimes, OptionsNameEachPodThatThereIs) {
  std::vector<std::string> presets;
  for (const pod::PodSpec& spec : pod::podPresets()) presets.push_back(spec.name);
  EXPECT_EQ(join(presets, " "), cli::kPodNames);
}

TEST(PodTimes, ShapesHaveTheirChip) {
  EXPECT_THAT(namesOf(podShapesOf("Mk2")), ElementsAre("pod4", "pod16", "pod64", "pod128", "pod256"));
  EXPECT_THAT(namesOf(podShapesOf("Bow")), ElementsAre("bow-pod16", "bow-pod64", "bow-pod128", "bow-pod256"));
  const pod::predict::SystemShape shape = podShape("bow-pod128").value();
  EXPECT_EQ(shape.ipus_per_domain, 64);
  EXPECT_EQ(shape.domains, 2);
  EXPECT_EQ(podShape("pod63").code(), Code::kInvalidArgument);
}

TEST(PodTimes, AllReducesTakeLongerOverMoreReplicasAndBytes) {
  const pod::predict::SystemShape pod64 = podShape("pod64").value();
  const double few = podAllReduceSeconds(pod64, 50'000'000, 2, 1);
  EXPECT_GT(few, 0.4e-3) << "50 MB do not go faster than 116.8 GB/s";
  EXPECT_LT(few, podAllReduceSeconds(pod64, 50'000'000, 64, 1));
  EXPECT_LT(few, podAllReduceSeconds(pod64, 100'000'000, 2, 1));
}

}  // namespace
}  // namespace pop
