// SPDX-License-Identifier: Apache-2.0
// System files that are damaged: each is a system that can be simulated, or an error that names the line.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "common/base/random.h"
#include "pod/clock/tuner.h"
#include "pod/system/system_text.h"

namespace pop::pod {
namespace {

constexpr const char* kSystems[] = {
    "system a\nbase pod16\ntopology torus\nmachines 4\nrate rail 14.6 GB/s\ncost step 1.5 us\nspeed ipu3 "
    "0.5\n"
    "remove ipu0 ipu2\nachieved 0.5\npeak 100 Tflop/s\n",
    "system b\nilds 2\nmachines 2\nmachines-per-gateway 2\ntopology barley-twist\ngateways switched\n",
    "system c\nnodes 4 1 1\nlink ipu0 ipu1 1 GB/s\nlink ipu1 ipu2 2 GiB/s\nlink ipu2 ipu3 3 Gbit/s\n"
    "link gw0 ipu0 4 MB/s\nlink gw0 sw0 5 kB/s\n"};

std::string damagedSystem(SplitMix64& random) {
  std::string text = kSystems[random.below(3)];
  const std::string pool = "0123456789 .-\n#;\tiputgwsw/GMkBe" + std::string(1, '\0') + "\xff";
  for (std::uint64_t edits = 1 + random.below(2); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = random.below(text.size());
    switch (random.below(3)) {
      case 0:
        text[at] = pool[random.below(pool.size())];
        break;
      case 1:
        text.erase(at, 1);
        break;
      default:
        text.insert(at, 1, pool[random.below(pool.size())]);
    }
  }
  return text;
}

TEST(SystemTextFuzz, DamagedSystemsAreRefusedOrCanBeSimulated) {
  SplitMix64 random(7);
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string text = damagedSystem(random);
    Result<PodSpec> spec = systemFromText(text, "x.system");
    if (!spec.ok()) {
      EXPECT_TRUE(spec.status().message().starts_with("x.system")) << spec.status().message();
      continue;
    }
    ++read;
    EXPECT_TRUE(systemFromText(systemText(*spec), "y.system").ok()) << text;
    const ReplicaLayout layout{*spec, std::min(4, spec->ildIpus()), 1};
    if (validate(layout).ok()) {
      EXPECT_GE(gclChoice(Topology(*spec), layout, {.group = layout.replicas, .count = 1000}).time.total,
                Picoseconds(0))
          << text;
    }
  }
  EXPECT_GT(read, 50);
}

}  // namespace
}  // namespace pop::pod
