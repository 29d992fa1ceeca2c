// SPDX-License-Identifier: Apache-2.0
// Schedule of the IPUs of a replica, for a model that is cut into stages: data, made by a pure function, that
// can be read, simulated and drawn before anything runs.
//
//   Schedule schedule({.levels = chain(4), .gradient_accumulation_count = 16});
//   const SimulationOptions times{.stages = {{10us, 20us}, {10us, 20us}, {10us, 20us}, {9us, 20us}}};
//   Simulation simulated = simulate(schedule, times);
//   simulated.total;
//   writeSvg(schedule, simulated, "grouped.svg");
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "popdist/cxx20.hpp"
#include "popdist/pod.hpp"

namespace popdist::train {

enum class ScheduleKind : std::uint8_t {
  kGrouped,      ///< each IPU does a forward and a backward in each timestep: the quickest, if they differ in
                 ///< length
  kInterleaved,  ///< forwards and backwards alternate: about half the stored activations
  kSequential,   ///< one micro-batch at a time, as in a model that is only cut up: to look for errors
};

enum class RecomputeMode : std::uint8_t {
  kAuto,                         ///< kThenBackpropagate, or kAndBackpropagateInterleaved for kSequential
  kThenBackpropagate,            ///< a whole stage again, then its backward: kGrouped, kInterleaved
  kAndBackpropagateInterleaved,  ///< segment by segment, each with its backward, the last one first:
                                 ///< kGrouped, kSequential. As kThenBackpropagate for stages of one segment
};

/// Rule for a gradient accumulation count.
enum class CountRule : std::uint8_t {
  kTensorFlow,  ///< a multiple of the schedule's overlap: see Schedule::overlap
  kPopart,      ///< at least the number of levels
  kAny,         ///< at least 1, or a multiple of batch_serialization_iterations
};

/// The IPU of a stage, or those of stages that run side by side, in the order of the stages.
struct DeviceGroup {
  std::vector<int> ipus{};
  DeviceGroup(int ipu) : ipus{ipu} {}  // NOLINT: {0, {1, 2}, 2} reads best
  DeviceGroup(std::initializer_list<int> ipus_in) : ipus(ipus_in) {}
  friend bool operator==(const DeviceGroup&, const DeviceGroup&) = default;
};
/// One entry for each level, such as {0, {1, 2}, 2, 3}. Empty: one IPU for each stage, so that what they
/// exchange has short ways.
using DeviceMapping = std::vector<DeviceGroup>;

/// Levels of a pipeline without stages side by side.
inline std::vector<int> chain(int stages) {
  return std::vector<int>(static_cast<std::size_t>(stages > 0 ? stages : 0), 1);
}

struct ScheduleOptions {
  /// Number of stages on each level; stages are numbered level by level. Those of one level run side by side:
  /// they get the same inputs, and the next level gets the outputs of all. At least two levels.
  std::vector<int> levels{};
  DeviceMapping device_mapping{};
  int ipus = 0;  ///< the replica's; 0: as many as the mapping needs
  std::int64_t gradient_accumulation_count =
      1;  ///< micro-batches of a run; without training simply their number
  ScheduleKind kind = ScheduleKind::kGrouped;
  bool training = true;  ///< else forwards only, and no update
  bool recompute = false;
  RecomputeMode recompute_mode = RecomputeMode::kAuto;
  bool explicit_checkpoints = false;  ///< some stage keeps tensors of its own for recomputation
  std::vector<int> segments{};        ///< one for each stage: its segments, such as layers; empty: one
  /// Micro-batches that a stage takes one after the other before the next stage begins. kSequential on one
  /// IPU only; the count is a multiple of it.
  int batch_serialization_iterations = 1;
  bool overlap_io = false;  ///< I/O tiles load and store during compute: kGrouped only
  CountRule count_rule = CountRule::kTensorFlow;
};

enum class ActionKind : std::uint8_t { kForward, kRecompute, kBackward, kUpdate };

struct Action {
  ActionKind kind = ActionKind::kForward;
  std::int32_t ipu = 0;
  std::int32_t stage = -1;        ///< -1: update
  std::int32_t micro_batch = -1;  ///< -1: update
  std::int32_t timestep = 0;
  std::int32_t segment = -1;  ///< a part of the stage; -1: all of it

  friend bool operator==(const Action&, const Action&) = default;
};

/// "F2" is the forward of micro-batch 2, R its recomputation, B the backward; "U" is the update. "B2.0" is
/// the backward of its first segment.
std::string textOf(const Action& action);

/// Actions in timesteps: in each, IPUs work independently of each other, and then exchange what they made. An
/// IPU does its backwards first, and those of several stages in the order of the stages.
class Schedule {
 public:
  /// Throws popdist_error kInvalidArgument naming the option, its value, the rule and, for a count, the next
  /// two that are legal; kResourceExhausted for more than 2^24 actions.
  explicit Schedule(ScheduleOptions options);

  const ScheduleOptions& options() const { return options_; }  ///< with the mapping that was chosen
  int levels() const { return static_cast<int>(options_.levels.size()); }
  int stages() const { return static_cast<int>(level_of_.size()); }
  int ipus() const { return ipus_; }
  int levelOf(int stage) const { return level_of_[static_cast<std::size_t>(stage)]; }
  int ipuOf(int stage) const { return ipu_of_[static_cast<std::size_t>(stage)]; }
  int microBatches() const { return static_cast<int>(options_.gradient_accumulation_count); }

  /// Timesteps with forwards and backwards; the update comes in one more.
  int timesteps() const { return timesteps_; }
  /// All actions, in an order in which a single thread can do them: by timestep, then backwards before
  /// forwards, then by stage.
  std::span<const Action> order() const { return order_; }
  /// Actions of one IPU, in its order.
  std::vector<Action> actionsOf(int ipu) const;

  /// Micro-batches of which a stage holds activations at the same time. That of micro-batch m may lie in
  /// place m mod slots(stage).
  int slots(int stage) const;
  /// Micro-batches that wait in a stash while the stage works on another one: slots - 1.
  int stash(int stage) const { return slots(stage) - 1; }
  /// True if its backward comes when its forward's activations are gone, so that it is recomputed.
  bool recomputes(int stage) const { return recomputes_[static_cast<std::size_t>(stage)]; }
  int segmentsOf(int stage) const {
    return options_.segments.empty() ? 1 : options_.segments[static_cast<std::size_t>(stage)];
  }
  /// True if recomputation goes segment by segment (RecomputeMode::kAndBackpropagateInterleaved), so that one
  /// segment's activations are there at a time.
  bool recomputesBySegment() const;

  /// Timesteps from a micro-batch's entry to the next one's.
  int period() const { return period_; }
  /// By CountRule::kTensorFlow a count is a multiple of this.
  int overlap() const;

 private:
  void placeStages();
  void addActions();
  void addBackward(int stage, int micro_batch, int timestep);
  void add(ActionKind kind, int stage, int micro_batch, int timestep, int segment = -1);

  ScheduleOptions options_;
  std::vector<int> level_of_, ipu_of_;
  std::vector<bool> recomputes_;
  int ipus_ = 0, period_ = 1, timesteps_ = 0;
  std::vector<Action> order_;
};

/// Throws popdist_error kInvalidArgument unless `count` micro-batches are legal with these options; those of
/// the options do not matter.
void checkCount(const ScheduleOptions& options, std::int64_t count);

/// A stage's times for one micro-batch. Recomputing takes as long as a forward; each of n segments takes the
/// n-th part of its stage's time.
struct StageTimes {
  SimulatedTime forward{1};
  SimulatedTime backward{2};
  SimulatedTime copy_forward{0};   ///< its outputs to the next level, if that is on another IPU
  SimulatedTime copy_backward{0};  ///< the gradients of its inputs to the level before, likewise
};

struct SimulationOptions {
  std::vector<StageTimes> stages{};  ///< one for each stage, or one for all
  SimulatedTime sync{0};             ///< at the end of each timestep
  SimulatedTime update{0};
  SimulatedTime load{0};   ///< a micro-batch's inputs, from the host
  SimulatedTime store{0};  ///< the last level's results of it, to the host
};

struct TimedAction {
  Action action{};
  SimulatedTime start{0};
  SimulatedTime end{0};
};

/// A part of a run: utilisation is the part of its time in which an IPU computes, over all IPUs.
struct Phase {
  std::string name{};
  SimulatedTime begin{0};
  SimulatedTime end{0};
  double utilisation = 0;
};

struct Simulation {
  std::vector<TimedAction> actions{};  ///< as Schedule::order
  std::vector<SimulatedTime> syncs{};  ///< the end of each timestep
  std::vector<Phase> phases{};  ///< ramp-up, main, ramp-down, as far as there are such; one if sequential
  SimulatedTime total{0};
  SimulatedTime io{0};  ///< the part of `total` in which all IPUs wait for the host
  double bubble =
      0;  ///< the part of the time before the update in which IPUs wait, over all IPUs that have stages
};

/// Starts and ends of all actions. A timestep lasts as long as its busiest IPU computes, then as long as the
/// busiest copies, then a sync. Before it is a load if a micro-batch enters, at its end a store if one
/// has been through all levels. With ScheduleOptions::overlap_io, I/O tiles load the next timestep's inputs
/// and store what the one before has made while it computes: only what takes longer, the first load and a
/// store after the last timestep take time of their own. Exact: whole picoseconds. Throws popdist_error
/// kInvalidArgument for a negative time, times for another number of stages, or times that together may be
/// more than 2^63 - 1 ps, some 106 days.
Simulation simulate(const Schedule& schedule, const SimulationOptions& options);

struct SvgOptions {
  std::string title{};
  std::vector<std::string> stage_names{};  ///< written on the actions; else the micro-batch's number is
  bool colour_by_micro_batch = false;      ///< else by kind: forward, backward, update
  int followed = 0;                        ///< the micro-batch that arrows follow
  int most_width_px = 1100;
};

/// A drawing: a row for each IPU, time to the right, to scale.
std::string svg(const Schedule& schedule, const Simulation& simulation, const SvgOptions& options = {});

/// The same as a file. Throws popdist_error kUnavailable naming the file and what the system says.
void writeSvg(const Schedule& schedule, const Simulation& simulation, const std::string& path,
              const SvgOptions& options = {});

}  // namespace popdist::train
