// SPDX-License-Identifier: Apache-2.0
// Damaged execution traces: each is read and put in order, or refused with the file's name. Seeded, so that a
// failure comes back.
#include <gtest/gtest.h>

#include <string>

#include "common/base/random.h"
#include "pod/chakra/rank_work.h"

namespace pop::pod::chakra {
namespace {

constexpr std::uint64_t kTraceRounds = 20'000;

std::string wholeTrace() {
  std::vector<TraceNode> nodes;
  for (std::uint64_t id = 0; id < 6; id += 2) {
    nodes.push_back({.id = id, .name = "computes", .duration = std::chrono::microseconds(100 * id)});
    if (id > 0) nodes.back().dependencies = {id - 1};
    nodes.push_back({.id = id + 1,
                     .name = "gradients",
                     .dependencies = {id},
                     .duration = {},
                     .collective = TracedCollective{.bytes = 1000 + id}});
  }
  return executionTrace(nodes);
}

std::string damagedTrace(std::string bytes, SplitMix64& random) {
  for (std::uint64_t times = 1 + random.below(3); times > 0 && !bytes.empty(); --times) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(4)) {
      case 0:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 2:
        bytes.insert(at, 1 + random.below(3), static_cast<char>(random.below(256)));
        break;
      default:
        bytes.erase(at, 1 + random.below(30));
    }
  }
  return bytes;
}

TEST(ExecutionTraceFuzz, DamagedTracesAreRefusedOrPutInOrder) {
  const std::string whole = wholeTrace();
  int read = 0;
  for (std::uint64_t round = 0; round < kTraceRounds; ++round) {
    SplitMix64 random(round);
    const Result<std::vector<TraceNode>> nodes = readExecutionTrace(damagedTrace(whole, random), "w.0.et");
    if (!nodes.ok()) {
      ASSERT_TRUE(nodes.status().message().starts_with("w.0.et: ")) << round;
      continue;
    }
    ++read;
    Result<RankWork> work = workOf(nodes.value(), "w.0.et");
    if (!work.ok()) {
      ASSERT_TRUE(work.status().message().starts_with("w.0.et: ")) << round;
      continue;
    }
    ASSERT_TRUE(readExecutionTrace(executionTrace(nodes.value()), "w.0.et").ok()) << round;
    const RankWork same = work.value();
    ASSERT_TRUE(join(*work, "w.0.et", same, "w.1.et").ok()) << round;
  }
  EXPECT_GT(read, 500);
}

}  // namespace
}  // namespace pop::pod::chakra
