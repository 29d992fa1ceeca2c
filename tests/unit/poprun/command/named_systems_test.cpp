// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/named_systems.h"

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

TEST(NamedSystems, OptionsNameEachPodThatThereIs) {
  std::vector<std::string> presets;
  for (const pod::PodSpec& spec : pod::podPresets()) presets.push_back(spec.name);
  EXPECT_EQ(join(presets, " "), cli::kPodNames);
}

TEST(NamedSystems, ShapesHaveTheirChip) {
  NamedSystems pods;
  EXPECT_THAT(namesOf(pods.shapesOf("Mk2")), ElementsAre("pod4", "pod16", "pod64", "pod128", "pod256"));
  EXPECT_THAT(namesOf(pods.shapesOf("Bow")),
              ElementsAre("bow-pod16", "bow-pod64", "bow-pod128", "bow-pod256"));
  const pod::predict::SystemShape shape = pods.shape("bow-pod128").value();
  EXPECT_EQ(shape.ipus_per_domain, 64);
  EXPECT_EQ(shape.domains, 2);
  EXPECT_EQ(pods.shape("pod63").code(), Code::kInvalidArgument);
}

TEST(NamedSystems, AllReducesTakeLongerOverMoreReplicasAndBytes) {
  NamedSystems pods;
  const pod::predict::SystemShape pod64 = pods.shape("pod64").value();
  const auto timeOf = [&](AlgorithmChoice choice, std::uint64_t bytes, int replicas) {
    return pods.allReduceTime(choice)(pod64, bytes, replicas, 1).value();
  };
  const double few = timeOf(AlgorithmChoice::kGcl, 50'000'000, 2);
  EXPECT_GT(few, 0.4e-3) << "50 MB do not go faster than 116.8 GB/s";
  EXPECT_LT(few, timeOf(AlgorithmChoice::kGcl, 50'000'000, 64));
  EXPECT_LT(few, timeOf(AlgorithmChoice::kGcl, 100'000'000, 2));
  EXPECT_GT(timeOf(AlgorithmChoice::kGcl, 50'000'000, 64),
            timeOf(AlgorithmChoice::kQuickest, 50'000'000, 64));
}

TEST(NamedSystems, AChangedSystemIsBesideTheOneThatItIsMadeOf) {
  NamedSystems pods;
  const pod::WhatIf what_if{.removed_links = {{"ipu4", "ipu6"}}, .speeds = {{"ipu3", 0.5}}, .topology = {}};
  const pod::predict::SystemShape as_it_is = pods.shape("pod16").value();
  const pod::predict::SystemShape changed = pods.changedShape("pod16", what_if).value();
  EXPECT_EQ(changed.name, "pod16 (what if)");
  EXPECT_EQ(changed.chip, as_it_is.chip);
  EXPECT_EQ(changed.slowest_ipu, 0.5);
  EXPECT_EQ(as_it_is.slowest_ipu, 1);
  const pod::predict::CommunicationTime time_of = pods.allReduceTime(AlgorithmChoice::kGcl);
  EXPECT_GT(time_of(changed, 50'000'000, 16, 1).value(), time_of(as_it_is, 50'000'000, 16, 1).value());
  EXPECT_EQ(
      pods.changedShape("pod4", {.removed_links = {{"ipu0", "ipu9"}}, .speeds = {}, .topology = {}}).code(),
      Code::kInvalidArgument);
}

}  // namespace
}  // namespace pop
