// SPDX-License-Identifier: Apache-2.0
// A schedule's times: one pass over its actions, which are ordered by timestep.
#include <algorithm>
#include <cmath>
#include <string>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "popdist/schedule.hpp"

namespace popdist::train {
namespace {

// As if each action took all times that there are, the longest stage's.
pop::Status checkSum(const Schedule& schedule, const SimulationOptions& options) {
  const auto in_ps = [](SimulatedTime time) { return static_cast<double>(time.count()); };
  double stage = 0;
  for (const StageTimes& times : options.stages)
    stage = std::max(stage, in_ps(times.forward) + in_ps(times.backward) + in_ps(times.copy_forward) +
                                in_ps(times.copy_backward));
  const double transfers =
      (in_ps(options.load) + in_ps(options.store)) * schedule.options().batch_serialization_iterations;
  const double all = static_cast<double>(schedule.order().size()) *
                     (stage + transfers + in_ps(options.sync) + in_ps(options.update));
  constexpr auto kMost = static_cast<double>(SimulatedTime::max().count());
  if (all < kMost) return {};
  return pop::invalidArgument("the schedule's " + std::to_string(schedule.order().size()) +
                              " actions may take " + pop::numberText(std::round(all / 1e12)) +
                              " s together, expected less than " + pop::numberText(std::round(kMost / 1e12)) +
                              " s: give shorter times");
}

pop::Status checkTimes(const Schedule& schedule, const SimulationOptions& options) {
  if (options.stages.size() != 1 && static_cast<int>(options.stages.size()) != schedule.stages())
    return pop::invalidArgument("SimulationOptions::stages has times of " +
                                std::to_string(options.stages.size()) + " stages, and the schedule has " +
                                std::to_string(schedule.stages()) + ": give each its times, or one for all");
  SimulatedTime least = std::min({options.sync, options.update, options.load, options.store});
  for (const StageTimes& times : options.stages)
    least = std::min({least, times.forward, times.backward, times.copy_forward, times.copy_backward});
  if (least.count() < 0)
    return pop::invalidArgument("a time is " + std::to_string(least.count()) + " ps: times are 0 or more");
  return checkSum(schedule, options);
}

class Run {
 public:
  Run(const Schedule& schedule, const SimulationOptions& options)
      : schedule_(schedule),
        options_(options),
        computed_(static_cast<std::size_t>(schedule.ipus())),
        copied_(computed_.size()),
        leaves_forward_(leavingTo(1)),
        leaves_backward_(leavingTo(-1)) {}

  Simulation simulate() {
    const std::span<const Action> order = schedule_.order();
    result_.actions.reserve(order.size());
    std::size_t begin = 0;
    setTransfers();
    if (overlaps()) addIo(loads_.front());
    while (begin < order.size()) {
      std::size_t end = begin;
      while (end < order.size() && order[end].timestep == order[begin].timestep) ++end;
      addTimestep(order.subspan(begin, end - begin));
      begin = end;
    }
    if (overlaps()) addIo(stores_.back());
    result_.total = now_;
    addPhases();
    return std::move(result_);
  }

 private:
  const StageTimes& timesOf(const Action& action) const {
    return options_.stages[options_.stages.size() == 1 ? 0 : static_cast<std::size_t>(action.stage)];
  }

  SimulatedTime computeTime(const Action& action) const {
    if (action.kind == ActionKind::kUpdate) return options_.update;
    return partOf(action.kind == ActionKind::kBackward ? timesOf(action).backward : timesOf(action).forward,
                  action);
  }

  // All segments together take the stage's time, to the picosecond.
  SimulatedTime partOf(SimulatedTime whole, const Action& action) const {
    if (action.segment < 0) return whole;
    const int segments = schedule_.segmentsOf(action.stage);
    return whole * (action.segment + 1) / segments - whole * action.segment / segments;
  }

  SimulatedTime copyTime(const Action& action) const {
    if (action.kind == ActionKind::kForward && leaves_forward_[static_cast<std::size_t>(action.stage)])
      return timesOf(action).copy_forward;
    if (action.kind == ActionKind::kBackward && action.segment <= 0 &&
        leaves_backward_[static_cast<std::size_t>(action.stage)])
      return timesOf(action).copy_backward;
    return SimulatedTime(0);
  }

  bool overlaps() const { return schedule_.options().overlap_io; }

  // Sets the transfers of each timestep: what it takes from the host, and what it makes for it.
  void setTransfers() {
    const auto timesteps = static_cast<std::size_t>(schedule_.order().back().timestep) + 1;
    loads_.assign(timesteps, SimulatedTime(0));
    stores_.assign(timesteps, SimulatedTime(0));
    const int together = schedule_.options().batch_serialization_iterations;
    for (const Action& action : schedule_.order()) {
      if (action.kind != ActionKind::kForward) continue;
      const auto timestep = static_cast<std::size_t>(action.timestep);
      const int level = schedule_.levelOf(action.stage);
      if (level == 0) loads_[timestep] = options_.load * together;
      if (level + 1 == schedule_.levels()) stores_[timestep] = options_.store * together;
    }
  }

  void addIo(SimulatedTime time) {
    now_ += time;
    result_.io += time;
  }

  // Time of the I/O tiles' transfers while timestep `at` computes.
  SimulatedTime transfersBeside(std::size_t at) const {
    const SimulatedTime next = at + 1 < loads_.size() ? loads_[at + 1] : SimulatedTime(0);
    const SimulatedTime last = at > 0 ? stores_[at - 1] : SimulatedTime(0);
    return next + last;
  }

  // For each stage: a stage of the next level (or of that before) is on another IPU.
  std::vector<bool> leavingTo(int direction) const {
    std::vector<bool> leaves(static_cast<std::size_t>(schedule_.stages()));
    for (int from = 0; from < schedule_.stages(); ++from) {
      for (int to = 0; to < schedule_.stages(); ++to) {
        if (schedule_.levelOf(to) == schedule_.levelOf(from) + direction &&
            schedule_.ipuOf(to) != schedule_.ipuOf(from))
          leaves[static_cast<std::size_t>(from)] = true;
      }
    }
    return leaves;
  }

  void addTimestep(std::span<const Action> actions) {
    std::fill(computed_.begin(), computed_.end(), SimulatedTime(0));
    std::fill(copied_.begin(), copied_.end(), SimulatedTime(0));
    const auto at = static_cast<std::size_t>(actions.front().timestep);
    if (!overlaps()) addIo(loads_[at]);
    for (const Action& action : actions) {
      SimulatedTime& computed = computed_[static_cast<std::size_t>(action.ipu)];
      const SimulatedTime time = computeTime(action);
      result_.actions.push_back({action, now_ + computed, now_ + computed + time});
      computed += time;
      copied_[static_cast<std::size_t>(action.ipu)] += copyTime(action);
    }
    const SimulatedTime computed = *std::max_element(computed_.begin(), computed_.end());
    now_ += computed;
    if (overlaps()) addIo(std::max(transfersBeside(at) - computed, SimulatedTime(0)));
    now_ += *std::max_element(copied_.begin(), copied_.end());
    if (!overlaps()) addIo(stores_[at]);
    if (actions.front().kind != ActionKind::kUpdate) now_ += options_.sync;
    result_.syncs.push_back(now_);
  }

  // Main: from when each stage does all that it ever does, to when the first has no more to do.
  void addPhases() {
    const int levels = schedule_.levels();
    const bool training = schedule_.options().training;
    const int main_begin = training ? 2 * levels - 1 : levels - 1;
    const int main_end = schedule_.period() * (schedule_.microBatches() - 1) + 1;
    if (schedule_.options().kind == ScheduleKind::kSequential) {
      addPhase("one at a time", 0, schedule_.timesteps());
    } else if (main_begin < main_end) {
      addPhase("ramp-up", 0, main_begin);
      addPhase("main", main_begin, main_end);
      addPhase("ramp-down", main_end, schedule_.timesteps());
    } else {
      addPhase("ramp-up and ramp-down", 0, schedule_.timesteps());
    }
    const SimulatedTime end = timeOf(schedule_.timesteps());
    if (end.count() > 0) result_.bubble = 1 - utilisation(SimulatedTime(0), end);
  }

  // The start of a timestep.
  SimulatedTime timeOf(int timestep) const {
    return timestep == 0 ? SimulatedTime(0) : result_.syncs[static_cast<std::size_t>(timestep - 1)];
  }

  void addPhase(const std::string& name, int first_timestep, int end_timestep) {
    const SimulatedTime begin = timeOf(first_timestep);
    const SimulatedTime end = timeOf(end_timestep);
    result_.phases.push_back({name, begin, end, utilisation(begin, end)});
  }

  double utilisation(SimulatedTime begin, SimulatedTime end) const {
    std::vector<bool> has_stages(computed_.size());
    double busy = 0;
    for (const TimedAction& timed : result_.actions) {
      if (timed.action.kind == ActionKind::kUpdate) continue;
      has_stages[static_cast<std::size_t>(timed.action.ipu)] = true;
      if (timed.start >= begin && timed.start < end)
        busy += static_cast<double>((timed.end - timed.start).count());
    }
    const auto ipus = static_cast<double>(std::count(has_stages.begin(), has_stages.end(), true));
    return end == begin ? 0 : busy / (ipus * static_cast<double>((end - begin).count()));
  }

  const Schedule& schedule_;
  const SimulationOptions& options_;
  std::vector<SimulatedTime> computed_, copied_;        // each IPU's in the current timestep
  std::vector<SimulatedTime> loads_, stores_;           // each timestep's
  std::vector<bool> leaves_forward_, leaves_backward_;  // each stage's
  SimulatedTime now_{0};
  Simulation result_;
};

}  // namespace

Simulation simulate(const Schedule& schedule, const SimulationOptions& options) {
  throwIfError(checkTimes(schedule, options), "simulate");
  return Run(schedule, options).simulate();
}

}  // namespace popdist::train
