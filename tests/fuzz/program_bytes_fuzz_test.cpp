// SPDX-License-Identifier: Apache-2.0
// Bytes of a compiled collective that somebody has changed, checksum included: refused, or copies between
// replicas and within the vector. Seeded, so that a failure comes back.
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>

#include "common/base/crc32c.h"
#include "common/base/random.h"
#include "libpopdist/pod/plans/collective_plans.h"
#include "libpopdist/pod/plans/program_bytes.h"
#include "pod/collectives/gcl.h"

namespace popdist::pod {
namespace {

constexpr std::size_t kBeforeBody = sizeof("popdist program 1\n") - 1 + sizeof(std::uint32_t);
constexpr int kProgramRounds = 4'000;

std::string changedProgram(std::string bytes, pop::SplitMix64& random) {
  for (std::uint64_t times = 1 + random.below(3); times > 0; --times) {
    const std::size_t at = kBeforeBody + random.below(bytes.size() - kBeforeBody);
    if (random.below(8) == 0 && bytes.size() > kBeforeBody + 100)
      bytes.erase(at, 1 + random.below(40));
    else
      bytes[at] = static_cast<char>(random.below(3) == 0 ? 0xff : random.below(256));
    if (at >= bytes.size()) break;
  }
  const std::uint32_t checksum = pop::crc32c(std::as_bytes(std::span(bytes).subspan(kBeforeBody)));
  std::memcpy(bytes.data() + kBeforeBody - sizeof(checksum), &checksum, sizeof(checksum));
  return bytes;
}

TEST(ProgramBytesFuzz, ChangedOnesAreRefusedOrCanBeCarriedOut) {
  const ReplicaLayout layout{podSpecByName("pod4").value(), 4, 1};
  const Collective collective{.kind = CollectiveKind::kReduceScatter, .group = 4, .count = 64};
  const std::string whole = programBytes("key", {gclSchedule(layout, collective), {.method = "ring"}});
  pop::SplitMix64 random(7);
  int read_well = 0;
  for (int round = 0; round < kProgramRounds; ++round) {
    pop::Result<CompiledCollective> read = programFromBytes(changedProgram(whole, random), "key");
    if (!read.ok() || read->schedule.replicas != 4 || read->schedule.part_of_place.size() != 4) continue;
    ++read_well;
    const auto plans = plansOf(read->schedule, collective, 0, 4);
    for (const plan::Plan& plan : plans) {
      for (const plan::Step& step : plan.steps) {
        ASSERT_LE(step.from.offset + step.count, 64U);
        ASSERT_LE(step.to.offset + step.count, 64U);
      }
    }
  }
  EXPECT_GT(read_well, 50);
}

}  // namespace
}  // namespace popdist::pod
