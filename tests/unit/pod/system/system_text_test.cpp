// SPDX-License-Identifier: Apache-2.0
#include "pod/system/system_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pod/system/routes.h"

namespace pop::pod {
namespace {

using ::testing::HasSubstr;

PodSpec systemOf(const std::string& text) {
  Result<PodSpec> spec = systemFromText(text, "s.system");
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return spec.ok() ? std::move(*spec) : PodSpec{};
}

void expectRefused(const std::string& text, const char* what) {
  const Result<PodSpec> spec = systemFromText(text, "s.system");
  ASSERT_FALSE(spec.ok()) << text;
  EXPECT_EQ(spec.code(), Code::kInvalidArgument);
  EXPECT_THAT(spec.status().message(), HasSubstr(what));
}

TEST(SystemText, ChangesAPreset) {
  const PodSpec spec = systemOf(
      "# half the rail\n"
      "system slow\n"
      "base pod64-torus\n"
      "machines 4\n"
      "rate rail 14.6 GB/s  # of 29.2\n"
      "cost step 1.5 us\n"
      "peak 100 Tflop/s\n"
      "speed ipu3 0.5\n"
      "remove ipu0 ipu2\n");
  EXPECT_EQ(spec.name, "slow");
  EXPECT_EQ(spec.ipuCount(), 16);
  EXPECT_EQ(spec.shape.topology, IldTopology::kTorus);
  EXPECT_EQ(spec.links.rail_bytes_per_s, 14'600'000'000U);
  EXPECT_EQ(spec.links.rung_bytes_per_s, LinkSpec{}.rung_bytes_per_s);
  EXPECT_EQ(spec.step_cost, Picoseconds(1'500'000));
  EXPECT_DOUBLE_EQ(spec.ipu_peak_flops_per_s, 1e14);
  ASSERT_EQ(spec.speed_of_ipu.size(), 1U);
  EXPECT_EQ(spec.speed_of_ipu[0], (std::pair{3, 0.5}));
  EXPECT_EQ(Topology(spec).linkId(0, 2, LinkKind::kRail), -1);
}

TEST(SystemText, HasAWiringOfItsOwn) {
  const PodSpec spec = systemOf(
      "system triangle\nnodes 3 1\nlink ipu0 ipu1 100 Gbit/s\nlink ipu1 ipu2 25 GB/s\nlink gw0 ipu2 1 "
      "GiB/s\n");
  EXPECT_EQ(spec.ipuCount(), 3);
  const Topology triangle(spec);
  const Route far = route(triangle, 0, 2);
  ASSERT_EQ(far.size(), 2U);
  EXPECT_EQ(triangle.links()[static_cast<std::size_t>(far[0])].bytes_per_s, 12'500'000'000U);
  EXPECT_EQ(triangle.links()[static_cast<std::size_t>(far[1])].bytes_per_s, 25'000'000'000U);
}

TEST(SystemText, IsReadAsItWasWritten) {
  for (PodSpec spec : podPresets()) {
    if (spec.ipuCount() > 1024) continue;
    if (spec.ipuCount() > 8) {
      spec.removed_links.emplace_back(0, 2);
      spec.speed_of_ipu.emplace_back(1, 0.25);
    }
    const std::string text = systemText(spec);
    EXPECT_EQ(systemText(systemOf(text)), text);
    EXPECT_EQ(systemText(systemOf(systemLine(spec))), text);
  }
  const std::string own = "system own\nnodes 2\nlink ipu0 ipu1 25 GB/s\n";
  EXPECT_THAT(systemText(systemOf(own)), HasSubstr("nodes 2\nlink ipu0 ipu1 25 GB/s\n"));
}

TEST(SystemText, AWrongLineIsNamedWithItsNumber) {
  expectRefused("", "s.system: the first line must be: system NAME");
  expectRefused("ilds 2\n", "s.system:1: the first line must be");
  expectRefused("system s\n\nmashines 4\n",
                "s.system:3: 'mashines' is no word of a system, did you mean 'machines'?");
  expectRefused("system s\nilds\n", "s.system:2: expected: ilds NUMBER");
  expectRefused("system s\nilds 2 3\n", "expected: ilds NUMBER");
  expectRefused("system s\nilds two\n", "two");
  expectRefused("system s\nilds 0\n", "'0' is no whole number from 1 to 1024");
  expectRefused("system s\nmachines 17\n", "'17' is no whole number from 1 to 16");
  expectRefused("system s\nilds 2\nilds 2\n", "s.system:3: ilds is there twice");
  expectRefused("system s\nbase pod17\n", "no Pod is called 'pod17'");
  expectRefused("system s\nilds 2\nbase pod16\n", "must follow the line 'system'");
  expectRefused("system s\ntopology ring\n", "use mesh, torus or barley-twist");
}

TEST(SystemText, ARateOrACostHasANumberAndAUnit) {
  expectRefused("system s\nrate rail 0 GB/s\n", "s.system:2: rate: '0 GB/s' is less than 1 B/s");
  expectRefused("system s\nrate rail -1 GB/s\n", "negative");
  expectRefused("system s\nrate rail nan GB/s\n", "'nan GB/s' is no number with a unit");
  expectRefused("system s\nrate rail 1e400 GB/s\n", "'1e400 GB/s' is no number with a unit");
  expectRefused("system s\nrate rail 5 GBs\n", "'GBs' is no unit for it: use one of B/s");
  expectRefused("system s\nrate rails 5 GB/s\n", "'rails' is no kind of link: use one of rung");
  expectRefused("system s\nrate rail 5\n", "expected: rate KIND NUMBER UNIT");
  expectRefused("system s\nrate rail 5 GB/s\nrate rail 6 GB/s\n", "rail is there twice");
  expectRefused("system s\ncost step 10 min\n", "'min' is no unit for it: use one of ps");
  expectRefused("system s\ncost step 7200 s\n", "'7200 s' is more than 3600 s");
  expectRefused("system s\npeak 5 flops\n", "use Tflop/s");
  expectRefused("system s\nachieved 1.5\n", "not from 0.000001 to 1");
}

TEST(SystemText, ALinkJoinsNodesThatAreThere) {
  expectRefused("system s\nlink ipu0 ipu1 1 GB/s\n", "a line 'nodes' must come before it");
  expectRefused("system s\nnodes 2\nlink ipu0 ipu2 1 GB/s\n",
                "there is no node 'ipu2': the system has ipu0 to ipu1");
  expectRefused("system s\nnodes 2\nlink ipu0 gw0 1 GB/s\n", "there is no node 'gw0'");
  expectRefused("system s\nnodes 2\nlink ipu0 ipu0 1 GB/s\n", "joined to itself");
  expectRefused("system s\nnodes 2\nlink ipu0 ipu1 1 GB/s\nlink ipu1 ipu0 1 GB/s\n", "joined already");
  expectRefused("system s\nnodes 3\nlink ipu0 ipu1 1 GB/s\n", "s.system: some IPUs of s are not joined");
  expectRefused("system s\nnodes 4097\n", "'4097' is no whole number from 1 to 4096");
  expectRefused("system s\nnodes 2\nilds 2\n", "so no shape");
  expectRefused("system s\nilds 2\nnodes 2\n", "has a shape already");
  expectRefused("system s\nbase pod16\nremove ipu0 ipu8\n", "there is no link between ipu0 and ipu8");
  expectRefused("system s\nbase pod16\nspeed gw0 2\n", "gw0 is no IPU");
  expectRefused("system s\nbase pod16\nspeed ipu0 2\nspeed ipu0 2\n", "has a speed already");
  expectRefused("system s\nbase pod4\nremove ipu0 ipu1\nremove ipu0 ipu2\nremove ipu0 gw0\n", "not joined");
}

}  // namespace
}  // namespace pop::pod
