// SPDX-License-Identifier: Apache-2.0
// Simulated times beside closed forms and beside the definition, to the picosecond.
#include <gtest/gtest.h>

#include <random>

#include "tests/testing/error_code_of.h"
#include "tests/unit/libpopdist/data/datasets.h"
#include "tests/unit/libpopdist/train/schedule/samples.h"

namespace popdist::train {
namespace {

using testing::kKinds;
using testing::optionsOf;

std::int64_t simulated(const Schedule& schedule, std::int64_t forward, std::int64_t backward) {
  return simulate(schedule, {.stages = {{SimulatedTime(forward), SimulatedTime(backward)}}}).total.count();
}

TEST(Simulate, BalancedStagesTakeWhatTheFormulasSay) {
  for (const std::int64_t s : {2, 3, 4, 8}) {
    for (const std::int64_t factor : {1, 2, 3, 10}) {
      for (const auto& [f, b] : {std::pair<std::int64_t, std::int64_t>{1000, 2000}, {7, 7}, {3, 1'000'003}}) {
        const std::int64_t ga = 2 * s * factor;
        const auto at = [&](ScheduleKind kind) {
          return Schedule(optionsOf(kind, static_cast<int>(s), static_cast<int>(ga)));
        };
        EXPECT_EQ(simulated(at(ScheduleKind::kGrouped), f, b), (ga + s - 1) * (f + b));
        EXPECT_EQ(simulated(at(ScheduleKind::kInterleaved), f, b), s * f + (2 * ga + s - 2) * b);
        EXPECT_EQ(simulated(at(ScheduleKind::kSequential), f, b), ga * s * (f + b));
      }
    }
  }
}

TEST(Simulate, RefusesTimesWhoseSumDoesNotFit) {
  const Schedule schedule(optionsOf(ScheduleKind::kGrouped, 2, 4));
  const auto code = [&](SimulatedTime time) {
    return popdist::testing::errorCodeOf([&] { simulate(schedule, {.stages = {{time, time}}}); });
  };
  EXPECT_EQ(code(SimulatedTime::max()), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(SimulatedTime::max() / 8), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(SimulatedTime::max() / 1000), std::nullopt);
}

TEST(Simulate, UnbalancedStagesTakeWhatTheDefinitionSays) {
  std::mt19937 random(1);
  for (const ScheduleKind kind : kKinds) {
    for (int trial = 0; trial < 60; ++trial) {
      const int stages = 2 + static_cast<int>(random() % 7);
      const int count = 2 * stages * (1 + static_cast<int>(random() % 3));
      ScheduleOptions options = optionsOf(kind, stages, count);
      SimulationOptions times;
      std::vector<int> ipu_of;
      std::vector<std::int64_t> forward, backward;
      for (int stage = 0; stage < stages; ++stage) {
        forward.push_back(static_cast<std::int64_t>(random() % 1'000'000));
        backward.push_back(static_cast<std::int64_t>(random() % 1'000'000));
        times.stages.push_back({SimulatedTime(forward.back()), SimulatedTime(backward.back())});
        ipu_of.push_back(kind == ScheduleKind::kInterleaved ? stage : static_cast<int>(random() % 3));
        options.device_mapping.emplace_back(ipu_of.back());
      }
      EXPECT_EQ(simulate(Schedule(options), times).total.count(),
                testing::timeOf(testing::travel(kind, stages, count), ipu_of, forward, backward));
    }
  }
}

TEST(Simulate, CopiesAndSyncsComeOnTop) {
  ScheduleOptions options = optionsOf(ScheduleKind::kGrouped, 4, 16);
  const StageTimes times{SimulatedTime(1000), SimulatedTime(2000), SimulatedTime(10), SimulatedTime(20)};
  const auto total = [&](const SimulationOptions& of) {
    return simulate(Schedule(options), of).total.count();
  };
  const std::int64_t without = (16 + 3) * 3000;
  const std::int64_t timesteps = 16 + 2 * 4 - 1;
  // Four timesteps copy activations only, then one copies gradients only, thirteen both, four gradients
  // again; in the very last one the first stage has no stage to send to.
  const std::int64_t copies = 4 * 10 + 20 + 13 * 30 + 4 * 20;
  EXPECT_EQ(total({.stages = {times}}), without + copies);
  EXPECT_EQ(total({.stages = {times}, .sync = SimulatedTime(5), .update = SimulatedTime(700)}),
            without + copies + timesteps * 5 + 700);
  options.device_mapping = {0, 0, 0, 0};
  EXPECT_EQ(total({.stages = {times}}), 16 * 4 * 3000) << "nothing leaves the IPU";
}

TEST(Simulate, LoadsAndStoresTakeTimeOfTheirOwnUnlessIoTilesOverlapThem) {
  ScheduleOptions options = optionsOf(ScheduleKind::kGrouped, 4, 16);
  SimulationOptions times{.stages = {{SimulatedTime(1000), SimulatedTime(2000)}},
                          .update = SimulatedTime(500)};
  const std::int64_t without = simulate(Schedule(options), times).total.count();
  times.load = SimulatedTime(300);
  times.store = SimulatedTime(40);
  const Simulation one_after_the_other = simulate(Schedule(options), times);
  EXPECT_EQ(one_after_the_other.io.count(), 16 * 340);
  EXPECT_EQ(one_after_the_other.total.count(), without + 16 * 340);
  options.overlap_io = true;
  const Simulation overlapped = simulate(Schedule(options), times);
  EXPECT_EQ(overlapped.io.count(), 300) << "the first load has nothing to hide behind";
  EXPECT_EQ(overlapped.total.count(), without + 300);
}

// Four timesteps of forwards alone hide 1,000 of a load, the twelve that follow 3,000.
TEST(Simulate, OfALoadThatIsTooLongOnlyARestIsWaitedFor) {
  ScheduleOptions options = optionsOf(ScheduleKind::kGrouped, 4, 16);
  options.overlap_io = true;
  const SimulationOptions times{.stages = {{SimulatedTime(1000), SimulatedTime(2000)}},
                                .load = SimulatedTime(1600)};
  EXPECT_EQ(simulate(Schedule(options), times).io.count(), 1600 + 4 * 600);
}

TEST(Simulate, EvaluationsStoreAfterTheLastTimestep) {
  ScheduleOptions options = optionsOf(ScheduleKind::kGrouped, 4, 16);
  options.training = false;
  options.overlap_io = true;
  const SimulationOptions times{.stages = {{SimulatedTime(1000), SimulatedTime(2000)}},
                                .load = SimulatedTime(100),
                                .store = SimulatedTime(70)};
  EXPECT_EQ(simulate(Schedule(options), times).total.count(), 100 + 19 * 1000 + 70);
}

TEST(Simulate, ActionsFollowEachOtherOnTheirIpu) {
  for (const ScheduleKind kind : kKinds) {
    const Schedule schedule(optionsOf(kind, 4, 16));
    const Simulation simulation = simulate(
        schedule, {.stages = {{SimulatedTime(1000), SimulatedTime(2000), SimulatedTime(9), SimulatedTime(9)}},
                   .sync = SimulatedTime(5)});
    std::map<int, SimulatedTime> free_at;
    std::map<std::pair<int, int>, SimulatedTime> forward_end, backward_end;
    for (const TimedAction& timed : simulation.actions) {
      const Action& action = timed.action;
      EXPECT_GE(timed.start, free_at[action.ipu]);
      free_at[action.ipu] = timed.end;
      const std::pair key(action.stage, action.micro_batch);
      if (action.kind == ActionKind::kForward) {
        forward_end[key] = timed.end;
        if (action.stage > 0) {
          EXPECT_GT(timed.start, forward_end.at({action.stage - 1, action.micro_batch}));
        }
      } else if (action.kind == ActionKind::kBackward) {
        backward_end[key] = timed.end;
        EXPECT_GE(timed.start, forward_end.at(key));
        if (action.stage < 3) {
          EXPECT_GT(timed.start, backward_end.at({action.stage + 1, action.micro_batch}));
        }
      }
    }
  }
}

TEST(Simulate, RampsShrinkWithTheCount) {
  for (const int stages : {2, 4, 8}) {
    for (const int factor : {1, 2, 8}) {
      const int count = 2 * stages * factor;
      const Simulation simulation = simulate(Schedule(optionsOf(ScheduleKind::kGrouped, stages, count)),
                                             {.stages = {{SimulatedTime(1000), SimulatedTime(2000)}}});
      EXPECT_NEAR(simulation.bubble, (stages - 1.0) / (count + stages - 1.0), 1e-12);
      ASSERT_EQ(simulation.phases.size(), 3U);
      EXPECT_DOUBLE_EQ(simulation.phases[1].utilisation, 1);
      EXPECT_LT(simulation.phases[0].utilisation, 0.8);
      EXPECT_LT(simulation.phases[2].utilisation, 0.8);
      EXPECT_EQ(simulation.phases[2].end, simulation.total);
    }
  }
  const Simulation sequential =
      simulate(Schedule(optionsOf(ScheduleKind::kSequential, 4, 8)), {.stages = {{}}});
  ASSERT_EQ(sequential.phases.size(), 1U);
  EXPECT_DOUBLE_EQ(sequential.phases[0].utilisation, 0.25);
}

TEST(Simulate, RecomputingCostsForwards) {
  ScheduleOptions options = optionsOf(ScheduleKind::kGrouped, 4, 16);
  options.recompute = true;
  EXPECT_GT(simulated(Schedule(options), 1000, 2000), (16 + 3) * 3000);
}

// The segments of a stage take its time together, whatever that is.
TEST(Simulate, SegmentsTakeTheirStagesTime) {
  ScheduleOptions options = optionsOf(ScheduleKind::kGrouped, 2, 8);
  options.recompute = true;
  const std::int64_t whole = simulated(Schedule(options), 1001, 2003);
  options.segments = {3, 1};
  options.recompute_mode = RecomputeMode::kAndBackpropagateInterleaved;
  EXPECT_EQ(simulated(Schedule(options), 1001, 2003), whole);
}

// 32 micro-batches on two IPUs: one pipeline, or two replicas with 16 each that hold both stages on their one
// IPU.
TEST(Simulate, SaysWhetherAPipelineOrReplicasAreQuicker) {
  ScheduleOptions replica = optionsOf(ScheduleKind::kSequential, 2, 16);
  replica.device_mapping = {0, 0};
  const std::int64_t replicas = simulated(Schedule(replica), 1000, 2000);
  replica.recompute = true;  // since both stages' activations do not fit
  const std::int64_t replicas_recomputing = simulated(Schedule(replica), 1000, 2000);
  const std::int64_t pipeline = simulated(Schedule(optionsOf(ScheduleKind::kGrouped, 2, 32)), 1000, 2000);
  EXPECT_EQ(replicas, 96'000);
  EXPECT_EQ(pipeline, 99'000);
  EXPECT_EQ(replicas_recomputing, 112'000);
}

TEST(Simulate, RefusesTimesThatFitNoStage) {
  const Schedule schedule(optionsOf(ScheduleKind::kGrouped, 4, 8));
  io::testing::expectError(
      [&] {
        simulate(schedule, {.stages = {{}, {}}});
      },
      ErrorCode::kInvalidArgument, "times of 2 stages, and the schedule has 4");
  io::testing::expectError([&] { simulate(schedule, {.stages = {{SimulatedTime(-1)}}}); },
                           ErrorCode::kInvalidArgument, "a time is -1 ps");
}

}  // namespace
}  // namespace popdist::train
