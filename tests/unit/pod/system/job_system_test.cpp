// SPDX-License-Identifier: Apache-2.0
#include "pod/system/job_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pod/system/system_text.h"

namespace pop::pod {
namespace {

using ::testing::HasSubstr;

std::string messageFor(const std::string& system) {
  return jobSystem(system, "POPDIST_SYSTEM", 4).status().message();
}

TEST(JobSystem, IsAPresetATextOrTheSmallestPod) {
  EXPECT_EQ(jobSystem("", "x", 5)->name, "pod16");
  EXPECT_EQ(jobSystem("Pod64-Torus", "x", 5)->shape.topology, IldTopology::kTorus);
  EXPECT_EQ(jobSystem("system mine; base pod64; machines 2 # two; three", "x", 5)->ipuCount(), 8);
  const PodSpec torus = podSpecByName("pod64-torus").value();
  EXPECT_EQ(systemText(jobSystem(systemLine(torus), "x", 5).value()), systemText(torus));
}

TEST(JobSystem, WrongOnesAreRefusedByTheNameOfTheirVariable) {
  EXPECT_THAT(messageFor("pod17"), HasSubstr("no Pod is called 'pod17'"));
  EXPECT_THAT(messageFor("pod 17"), HasSubstr("POPDIST_SYSTEM:1: 'pod' is no word of a system"));
  EXPECT_THAT(messageFor("system s; ilds 0"),
              HasSubstr("POPDIST_SYSTEM:1: ilds: '0' is no whole number from 1 to 1024"));
  const std::string long_name = "system " + std::string(kMaxJobSystemBytes, 's');
  EXPECT_THAT(messageFor(long_name), HasSubstr("POPDIST_SYSTEM: its system has 32775 characters"));
}

}  // namespace
}  // namespace pop::pod
