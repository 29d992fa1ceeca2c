// SPDX-License-Identifier: Apache-2.0
// A schedule: each stage's work, in an order that can be carried out, with the activations that it counts.
#include "popdist/schedule.hpp"

#include <gmock/gmock.h>

#include <set>

#include "tests/unit/libpopdist/train/schedule/samples.h"

namespace popdist::train {
namespace {

using testing::kKinds;
using testing::optionsOf;

std::string table(const Schedule& schedule, int ipu) {
  std::string text;
  for (const Action& action : schedule.actionsOf(ipu)) text += (text.empty() ? "" : " ") + textOf(action);
  return text;
}

ScheduleOptions small(ScheduleKind kind) {
  ScheduleOptions options = optionsOf(kind, 2, 4);
  options.device_mapping = {0, 1};
  return options;
}

TEST(Schedule, IsAListOfActionsForEachIpu) {
  const Schedule grouped(small(ScheduleKind::kGrouped));
  EXPECT_EQ(table(grouped, 0), "F0 F1 F2 B0 F3 B1 B2 B3 U");
  EXPECT_EQ(table(grouped, 1), "F0 B0 F1 B1 F2 B2 F3 B3 U");
  const Schedule interleaved(small(ScheduleKind::kInterleaved));
  EXPECT_EQ(table(interleaved, 0), "F0 F1 B0 F2 B1 F3 B2 B3 U");
  EXPECT_EQ(table(interleaved, 1), "F0 B0 F1 B1 F2 B2 F3 B3 U");
  const Schedule sequential(small(ScheduleKind::kSequential));
  EXPECT_EQ(table(sequential, 0), "F0 B0 F1 B1 F2 B2 F3 B3 U");
}

TEST(Schedule, DoesWhatTravellingMicroBatchesDo) {
  for (const ScheduleKind kind : kKinds) {
    for (const int stages : {2, 3, 4, 8}) {
      const int count = 4 * stages;
      const Schedule schedule(optionsOf(kind, stages, count));
      std::set<std::tuple<int, int, bool, int>> expected;
      for (const auto& visit : testing::travel(kind, stages, count))
        expected.emplace(visit.timestep, visit.stage, visit.backward, visit.micro_batch);
      std::set<std::tuple<int, int, bool, int>> actual;
      for (const Action& action : schedule.order()) {
        if (action.kind == ActionKind::kUpdate) continue;
        actual.emplace(action.timestep, action.stage, action.kind == ActionKind::kBackward,
                       action.micro_batch);
      }
      EXPECT_EQ(actual, expected);
      EXPECT_EQ(schedule.order().size(), expected.size() + static_cast<std::size_t>(stages));
    }
  }
}

TEST(Schedule, CountsTheStashByBruteForce) {
  for (const int stages : {2, 3, 4, 5, 8}) {
    for (const ScheduleKind kind : kKinds) {
      const int count = 4 * stages;
      const Schedule schedule(optionsOf(kind, stages, count));
      const auto visits = testing::travel(kind, stages, count);
      for (int stage = 0; stage < stages; ++stage) {
        const int behind = stages - 1 - stage;
        const int stash = kind == ScheduleKind::kGrouped       ? 2 * behind
                          : kind == ScheduleKind::kInterleaved ? behind
                                                               : 0;
        EXPECT_EQ(schedule.stash(stage), stash);
        EXPECT_EQ(schedule.slots(stage), testing::liveAt(visits, stage));
      }
    }
  }
}

// Follows the places of micro-batches in the order of a single thread: none is overwritten while a stage
// still needs it.
class Places {
 public:
  explicit Places(const Schedule& schedule) : schedule_(schedule) {}

  void follow(const Action& action) {
    if (action.kind == ActionKind::kForward) {
      EXPECT_TRUE(taken_.insert(placeOf(action.stage, action)).second) << action.stage << textOf(action);
    }
    if (action.kind == ActionKind::kBackward) free(action.stage, action);
    const bool last_of_level = action.stage + 1 == schedule_.stages() ||
                               schedule_.levelOf(action.stage + 1) > schedule_.levelOf(action.stage);
    if (schedule_.options().training || !last_of_level) return;
    for (int stage = 0; stage < schedule_.stages(); ++stage) {  // the whole level has read these
      if (schedule_.levelOf(stage) == schedule_.levelOf(action.stage) - 1) free(stage, action);
    }
    if (action.stage + 1 == schedule_.stages()) free(action.stage, action);
  }

  bool areFree() const { return taken_.empty(); }

 private:
  std::pair<int, int> placeOf(int stage, const Action& action) const {
    return {stage, action.micro_batch % schedule_.slots(stage)};
  }
  void free(int stage, const Action& action) { EXPECT_EQ(taken_.erase(placeOf(stage, action)), 1U); }

  const Schedule& schedule_;
  std::set<std::pair<int, int>> taken_;
};

TEST(Schedule, PlacesOfMicroBatchesAreFreeWhenTheyAreTaken) {
  for (const ScheduleKind kind : kKinds) {
    for (const bool training : {true, false}) {
      for (const int width : {1, 3}) {
        ScheduleOptions options{.levels = {1, width, 1, 1}, .gradient_accumulation_count = 16, .kind = kind};
        options.training = training;
        const Schedule schedule(options);
        Places places(schedule);
        for (const Action& action : schedule.order()) {
          if (action.kind != ActionKind::kUpdate) places.follow(action);
        }
        EXPECT_TRUE(places.areFree());
      }
    }
  }
}

TEST(Schedule, RecomputesBeforeEachBackwardWhoseActivationsAreGone) {
  ScheduleOptions options = small(ScheduleKind::kGrouped);
  options.recompute = true;
  EXPECT_EQ(table(Schedule(options), 0), "F0 F1 F2 R0 B0 F3 R1 B1 R2 B2 R3 B3 U");
  EXPECT_EQ(table(Schedule(options), 1), "F0 B0 F1 B1 F2 B2 F3 B3 U") << "the last stage's are still there";
  options.kind = ScheduleKind::kSequential;
  EXPECT_EQ(table(Schedule(options), 0), "F0 B0 F1 B1 F2 B2 F3 B3 U") << "nothing came between";
  options.device_mapping = {0, 0};
  EXPECT_EQ(table(Schedule(options), 0), "F0 F0 B0 R0 B0 F1 F1 B1 R1 B1 F2 F2 B2 R2 B2 F3 F3 B3 R3 B3 U");
}

TEST(Schedule, RecomputesWholeStagesOrSegmentBySegment) {
  ScheduleOptions options = optionsOf(ScheduleKind::kSequential, 2, 2);
  options.device_mapping = {0, 1};
  options.segments = {2, 3};
  EXPECT_EQ(table(Schedule(options), 1), "F0 B0 F1 B1 U") << "without recomputation segments change nothing";
  options.recompute = true;
  EXPECT_TRUE(Schedule(options).recomputesBySegment());
  EXPECT_EQ(table(Schedule(options), 0), "F0 B0.1 R0.0 B0.0 F1 B1.1 R1.0 B1.0 U")
      << "what the last segment has saved is still there";
  EXPECT_EQ(table(Schedule(options), 1), "F0 B0.2 R0.1 B0.1 R0.0 B0.0 F1 B1.2 R1.1 B1.1 R1.0 B1.0 U");
  options.kind = ScheduleKind::kGrouped;
  options.gradient_accumulation_count = 4;
  EXPECT_FALSE(Schedule(options).recomputesBySegment());
  EXPECT_EQ(table(Schedule(options), 0), "F0 F1 F2 R0 B0 F3 R1 B1 R2 B2 R3 B3 U");
  options.recompute_mode = RecomputeMode::kAndBackpropagateInterleaved;
  EXPECT_EQ(table(Schedule(options), 0),
            "F0 F1 F2 R0.1 B0.1 R0.0 B0.0 F3 R1.1 B1.1 R1.0 B1.0 R2.1 B2.1 R2.0 B2.0 R3.1 B3.1 R3.0 B3.0 U");
}

TEST(Schedule, TakesMicroBatchesInARow) {
  ScheduleOptions options = optionsOf(ScheduleKind::kSequential, 2, 4);
  options.device_mapping = {0, 0};
  options.batch_serialization_iterations = 2;
  const Schedule schedule(options);
  EXPECT_EQ(table(schedule, 0), "F0 F1 F0 F1 B0 B1 B0 B1 F2 F3 F2 F3 B2 B3 B2 B3 U");
  EXPECT_EQ(schedule.slots(0), 2);
  EXPECT_EQ(schedule.slots(1), 2);
}

TEST(Schedule, RunsStagesOfALevelAtTheSameTime) {
  const Schedule schedule(
      {.levels = {1, 2, 1}, .device_mapping = {0, {1, 2}, 2}, .gradient_accumulation_count = 6});
  EXPECT_EQ(schedule.stages(), 4);
  EXPECT_EQ(schedule.levels(), 3);
  EXPECT_EQ(schedule.overlap(), 6);
  EXPECT_EQ(schedule.ipuOf(3), 2);
  for (const Action& action : schedule.order()) {
    if (action.kind == ActionKind::kForward) {
      EXPECT_EQ(action.timestep, action.micro_batch + schedule.levelOf(action.stage));
    }
  }
}

// The pipeline of the tutorial's pictures: A, B, four C side by side, D.
TEST(Schedule, StagesSideBySideShortenTheWayAndStoreLess) {
  const DeviceMapping wide = {0, 1, {0, 1, 2, 3}, 3};
  const DeviceMapping narrow = {0, 1, 0, 1, 2, 3, 3};
  const Schedule concurrent(
      {.levels = {1, 1, 4, 1}, .device_mapping = wide, .gradient_accumulation_count = 56});
  const Schedule one_by_one(
      {.levels = chain(7), .device_mapping = narrow, .gradient_accumulation_count = 56});
  EXPECT_EQ(concurrent.levels(), 4);
  EXPECT_EQ(one_by_one.levels(), 7);
  const auto stored = [](const Schedule& schedule) {
    int sum = 0;
    for (int stage = 0; stage < schedule.stages(); ++stage) sum += schedule.slots(stage);
    return sum;
  };
  EXPECT_EQ(stored(concurrent), 7 + 5 + 4 * 3 + 1);
  EXPECT_EQ(stored(one_by_one), 13 + 11 + 9 + 7 + 5 + 3 + 1);
}

TEST(Schedule, IsTheSameForTheSameOptions) {
  const Schedule one(small(ScheduleKind::kGrouped));
  const Schedule two(small(ScheduleKind::kGrouped));
  EXPECT_TRUE(std::equal(one.order().begin(), one.order().end(), two.order().begin(), two.order().end()));
}

}  // namespace
}  // namespace popdist::train
