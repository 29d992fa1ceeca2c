// SPDX-License-Identifier: Apache-2.0
// Options that make a schedule, and errors about those that do not.
#include "tests/unit/libpopdist/data/datasets.h"
#include "tests/unit/libpopdist/train/schedule/samples.h"

namespace popdist::train {
namespace {

using io::testing::expectError;
using testing::optionsOf;

void expectRefused(const ScheduleOptions& options, const std::string& message) {
  expectError([&] { Schedule schedule(options); }, ErrorCode::kInvalidArgument, message);
}

bool isLegal(ScheduleOptions options, std::int64_t count) {
  try {
    checkCount(options, count);
    return true;
  } catch (const popdist_error&) {
    return false;
  }
}

TEST(ScheduleCount, IsAMultipleOfTheOverlap) {
  for (int stages = 2; stages <= 8; ++stages) {
    for (int count = 0; count <= 40; ++count) {
      EXPECT_EQ(isLegal(optionsOf(ScheduleKind::kGrouped, stages, 0), count),
                count > 0 && count % (2 * stages) == 0);
      EXPECT_EQ(isLegal(optionsOf(ScheduleKind::kInterleaved, stages, 0), count),
                count > 0 && count % stages == 0);
      EXPECT_EQ(isLegal(optionsOf(ScheduleKind::kSequential, stages, 0), count), count > 0);
      ScheduleOptions overlap_io = optionsOf(ScheduleKind::kGrouped, stages, 0);
      overlap_io.overlap_io = true;
      EXPECT_EQ(isLegal(overlap_io, count), count >= 2 * stages + 2);
      ScheduleOptions popart = optionsOf(ScheduleKind::kGrouped, stages, 0);
      popart.count_rule = CountRule::kPopart;
      EXPECT_EQ(isLegal(popart, count), count >= stages);
      ScheduleOptions inference = optionsOf(ScheduleKind::kGrouped, stages, 0);
      inference.training = false;
      EXPECT_EQ(isLegal(inference, count), count > 0 && count % stages == 0);
      inference.count_rule = CountRule::kAny;
      EXPECT_EQ(isLegal(inference, count), count > 0);
    }
  }
}

TEST(ScheduleCount, ErrorsSayTheRuleAndTheNextTwoThatAreLegal) {
  expectRefused(
      optionsOf(ScheduleKind::kGrouped, 4, 9),
      "gradient_accumulation_count is 9, and the Grouped schedule of 4 stages needs a multiple of 8: take "
      "16 or 24");
  expectRefused(optionsOf(ScheduleKind::kGrouped, 4, 3), "take 8 or 16");
  expectRefused(optionsOf(ScheduleKind::kInterleaved, 4, 5), "multiple of 4: take 8 or 12");
  expectRefused(optionsOf(ScheduleKind::kSequential, 4, 0), "needs at least 1: take 1 or 2");
  expectRefused(optionsOf(ScheduleKind::kGrouped, 4, -1), "gradient_accumulation_count is -1");
  expectError([] { checkCount(optionsOf(ScheduleKind::kSequential, 2, 1), std::int64_t{1} << 31); },
              ErrorCode::kInvalidArgument, "at most 2147483647 is possible");
  expectError([] { Schedule schedule(optionsOf(ScheduleKind::kSequential, 2, 2'000'000'000)); },
              ErrorCode::kResourceExhausted, "take fewer and larger micro-batches");
}

TEST(ScheduleMapping, HasAnEntryForEachStage) {
  ScheduleOptions options = optionsOf(ScheduleKind::kGrouped, 4, 8);
  options.device_mapping = {0, 1, 2};
  expectRefused(options, "device_mapping has length 3 for 4 stages");
  options.device_mapping = {0, 1, {2, 3}, 3};
  expectRefused(options, "device_mapping[2] names 2 IPUs for 1 stage");
  options.device_mapping = {0, 1, -2, 3};
  expectRefused(options, "device_mapping[2] is IPU -2");
  options.device_mapping = {0, 1, 2, 4};
  options.ipus = 4;
  expectRefused(options, "device_mapping[3] is IPU 4, and the replica has IPUs 0 to 3");
}

TEST(ScheduleMapping, MayPutSeveralStagesOnAnIpuUnlessInterleaved) {
  ScheduleOptions options = optionsOf(ScheduleKind::kGrouped, 4, 8);
  options.device_mapping = {0, 1, 1, 0};
  EXPECT_EQ(Schedule(options).ipus(), 2);
  options.kind = ScheduleKind::kSequential;
  EXPECT_EQ(Schedule(options).ipus(), 2);
  options.kind = ScheduleKind::kInterleaved;
  expectRefused(options,
                "stages 1 and 2 are both on IPU 1, and the Interleaved schedule takes one stage on an IPU");
  options.training = false;
  EXPECT_EQ(Schedule(options).ipus(), 2);
}

TEST(ScheduleShape, NeedsTwoLevels) {
  expectRefused(optionsOf(ScheduleKind::kGrouped, 1, 8), "a pipeline has 1 stage: it needs at least 2");
  expectRefused({.levels = {4}, .gradient_accumulation_count = 8},
                "it needs at least 2, one after the other");
  expectRefused({.levels = {1, 0, 1}, .gradient_accumulation_count = 8}, "levels[1] is 0");
  ScheduleOptions options = optionsOf(ScheduleKind::kSequential, 2, 8);
  options.overlap_io = true;
  expectRefused(options, "overlap_io needs the Grouped schedule, not Sequential");
}

TEST(RecomputeModes, AreLegalForSomeKinds) {
  for (const ScheduleKind kind : testing::kKinds) {
    ScheduleOptions options = optionsOf(kind, 4, 8);
    options.recompute = true;
    options.recompute_mode = RecomputeMode::kThenBackpropagate;
    if (kind == ScheduleKind::kSequential) {
      expectRefused(options, "recompute_mode is kThenBackpropagate");
    } else {
      Schedule schedule(options);
    }
    options.recompute_mode = RecomputeMode::kAndBackpropagateInterleaved;
    if (kind == ScheduleKind::kInterleaved) {
      expectRefused(options, "recompute_mode is kAndBackpropagateInterleaved");
    } else {
      Schedule schedule(options);
    }
  }
}

TEST(ExplicitCheckpoints, NeedGroupedOnSeveralIpusAndSequentialOnOne) {
  for (const ScheduleKind kind : testing::kKinds) {
    for (const bool on_one : {false, true}) {
      ScheduleOptions options = optionsOf(kind, 2, 8);
      if (on_one && kind == ScheduleKind::kInterleaved) continue;
      if (on_one) options.device_mapping = {0, 0};
      options.recompute = options.explicit_checkpoints = true;
      const ScheduleKind needed = on_one ? ScheduleKind::kSequential : ScheduleKind::kGrouped;
      if (kind == needed) {
        Schedule schedule(options);
      } else {
        expectRefused(options,
                      on_one ? "on 1 IPU need the Sequential schedule" : "on 2 IPUs need the Grouped");
      }
    }
  }
}

}  // namespace
}  // namespace popdist::train
