// SPDX-License-Identifier: Apache-2.0
#include "pod/predict/fit.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "common/base/text.h"
#include "pod/predict/least_squares.h"
#include "pod/system/units.h"

namespace pop::pod::predict {
namespace {

constexpr double kSmallShare = 0.05;  // of the shortest step

// One that is to be learned: its place in a training, and how often a step pays it.
struct Unknown {
  const char* key;
  std::optional<double> Training::*field;
  double (*times)(const Training& training, const Prediction& run);
};

double slotsOfRun(const Training& training, const Prediction& run) {
  return static_cast<double>(run.slots * run.placement.micro_batch) /
         static_cast<double>(training.micro_batch);
}

const Unknown kMicroBatchTime{"micro_batch_time", &Training::micro_batch_s, slotsOfRun};
const Unknown kFixedTime{"fixed_time", &Training::fixed_s,
                         [](const Training&, const Prediction&) { return 1.0; }};
const Unknown kGatewayTime{"gateway_time", &Training::gateway_s,
                           [](const Training& training, const Prediction& run) {
                             return static_cast<double>(training.collectives) * gatewayShare(run.domains);
                           }};

// Runs with all that is known of them.
struct Known {
  const Training& training;
  const std::vector<MeasuredRun>& runs;
  std::vector<Prediction> parts;

  std::int64_t runsOnSeveralDomains() const {
    return std::count_if(parts.begin(), parts.end(), [](const Prediction& run) { return run.domains > 1; });
  }
  std::size_t differentSlots() const {
    std::set<double> slots;
    for (const Prediction& run : parts) slots.insert(slotsOfRun(training, run));
    return slots.size();
  }
};

std::vector<Unknown> unknownsOf(const Known& known) {
  std::vector<Unknown> unknowns;
  if (!known.training.micro_batch_s) unknowns.push_back(kMicroBatchTime);
  if (!known.training.fixed_s) unknowns.push_back(kFixedTime);
  if (!known.training.gateway_s && known.runsOnSeveralDomains() > 0) unknowns.push_back(kGatewayTime);
  return unknowns;
}

bool hasUnknown(const std::vector<Unknown>& unknowns, const Unknown& which) {
  return std::any_of(unknowns.begin(), unknowns.end(),
                     [&](const Unknown& each) { return each.field == which.field; });
}

std::string namesOf(const std::vector<Unknown>& unknowns) {
  std::string names;
  for (std::size_t i = 0; i < unknowns.size(); ++i)
    names += std::string(i == 0 ? "" : i + 1 == unknowns.size() ? " and " : ", ") + unknowns[i].key;
  return names;
}

std::string runsText(std::int64_t runs) {
  return counted(runs, "run");
}

Status cannotTellApart(const Known& known, const std::vector<Unknown>& unknowns) {
  const auto runs = static_cast<std::int64_t>(known.runs.size());
  const std::int64_t several = known.runsOnSeveralDomains();
  std::string why;
  std::string needed = "a run with another gradient_accumulation on one IPU-Link domain";
  if (hasUnknown(unknowns, kGatewayTime) && several == runs) {
    why = runs == 1 ? "it is on several IPU-Link domains" : "all of them are on several IPU-Link domains";
    needed = "runs on one IPU-Link domain";
  } else if (known.differentSlots() == 1 && runs > 1) {
    why = "all of them have " + numberText(slotsOfRun(known.training, known.parts.front())) + " slots";
  } else if (runs < static_cast<std::int64_t>(unknowns.size())) {
    why = "they are fewer than what is to be learned";
  } else {
    why = "their slots and IPU-Link domains change together";
  }
  const std::string other =
      hasUnknown(unknowns, kGatewayTime)
          ? "; or write what you know into the model file, such as gateway_time = 0 ms for a program that "
            "merges its collectives"
          : "; or write what you know into the model file";
  return failedPrecondition(runsText(runs) + " cannot tell " + namesOf(unknowns) + " apart: " + why +
                            ". Add " + needed + other);
}

std::optional<std::vector<double>> solve(const Known& known, const std::vector<Unknown>& unknowns) {
  std::vector<std::vector<double>> columns(unknowns.size());
  std::vector<double> right;
  for (std::size_t i = 0; i < known.runs.size(); ++i) {
    const double step_s = known.runs[i].step_s;
    for (std::size_t j = 0; j < unknowns.size(); ++j)
      columns[j].push_back(unknowns[j].times(known.training, known.parts[i]) / step_s);
    right.push_back((step_s - known.parts[i].seconds.all()) / step_s);
  }
  return leastSquares(std::move(columns), std::move(right));
}

// A time that steps do not need may come out below zero by the noise of the runs, or because exchanges are a
// little faster than simulated: it is 0 then, and the others are learned again.
bool isSmall(const Known& known, const Unknown& unknown, double below_zero_s) {
  if (unknown.field == kMicroBatchTime.field) return false;
  double shortest_s = known.runs.front().step_s;
  double most_times = 0;
  for (std::size_t i = 0; i < known.runs.size(); ++i) {
    shortest_s = std::min(shortest_s, known.runs[i].step_s);
    most_times = std::max(most_times, unknown.times(known.training, known.parts[i]));
  }
  return -below_zero_s * most_times <= kSmallShare * shortest_s;
}

std::string setToNothing(const Unknown& unknown, double below_zero_s) {
  return "the simulated exchanges take as long as all that is not micro-batches: " +
         std::string(unknown.key) + " would be " + secondsWithUnit(below_zero_s) + ", and is taken as 0";
}

Status contradiction(const Unknown& unknown, double below_zero_s) {
  const std::string hint =
      unknown.field == kMicroBatchTime.field
          ? "Steps do not become longer with their slots: check micro_batch and gradient_accumulation of "
            "each "
            "run"
          : "The simulated exchanges take longer than all that is not micro-batches: check gradients and the "
            "batch_norm keys of the model, and the slots of each run";
  return failedPrecondition("the runs contradict the model: " + std::string(unknown.key) + " would be " +
                            secondsWithUnit(below_zero_s) + ". " + hint);
}

std::string restsOn(const Known& known, const Unknown& unknown) {
  const auto runs = static_cast<std::int64_t>(known.runs.size());
  if (unknown.field == kGatewayTime.field)
    return runsText(known.runsOnSeveralDomains()) + " on several IPU-Link domains";
  if (unknown.field != kMicroBatchTime.field) return runsText(runs);
  return runsText(runs) + " with " + counted(static_cast<std::int64_t>(known.differentSlots()), "number") +
         " of slots";
}

void addRemarks(const Known& known, std::size_t unknowns, Fit& result) {
  if (!result.training.gateway_s)
    result.remarks.emplace_back(
        "no run is on several IPU-Link domains: predictions for them leave out what collectives cost over "
        "GW-Links, besides the time on the links themselves");
  if (unknowns > 0 && known.runs.size() == unknowns)
    result.remarks.push_back(
        "there are as many runs as times to learn: their errors are 0 whatever the "
        "model is worth. Hold out a run, or measure one more");
}

Result<Known> knownOf(const Training& training, const std::vector<MeasuredRun>& runs,
                      const CommunicationTime& communication) {
  Known known{training, runs, {}};
  for (const MeasuredRun& run : runs) {
    Result<Prediction> part = knownPart(training, run.placement, communication);
    if (!part.ok())
      return Status{part.status().code(),
                    "line " + std::to_string(run.line) + ": " + part.status().message()};
    known.parts.push_back(std::move(*part));
  }
  return known;
}

}  // namespace

Result<Fit> fit(const Training& known_training, const std::vector<MeasuredRun>& runs,
                const CommunicationTime& communication) {
  if (runs.empty()) return failedPrecondition("no run is left to learn from");
  POP_ASSIGN_OR_RETURN(const Known known, knownOf(known_training, runs, communication));
  const std::vector<Unknown> unknowns = unknownsOf(known);
  const std::optional<std::vector<double>> seconds = solve(known, unknowns);
  if (!seconds) return cannotTellApart(known, unknowns);
  Fit result{.training = known_training, .learned = {}, .remarks = {}};
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    const Unknown& unknown = unknowns[i];
    const double each = (*seconds)[i];
    if (each < 0 && isSmall(known, unknown, each)) {
      Training without = known_training;
      without.*unknown.field = 0;
      POP_ASSIGN_OR_RETURN(Fit again, fit(without, runs, communication));
      again.remarks.insert(again.remarks.begin(), setToNothing(unknown, each));
      return again;
    }
    if (each < 0) return contradiction(unknown, each);
    result.training.*unknown.field = each;
    result.learned.push_back({unknown.key, each, restsOn(known, unknown)});
  }
  addRemarks(known, unknowns.size(), result);
  return result;
}

Result<std::vector<Comparison>> compare(const Training& training, const std::vector<MeasuredRun>& runs,
                                        const CommunicationTime& communication) {
  std::vector<Comparison> comparisons;
  for (const MeasuredRun& run : runs) {
    POP_ASSIGN_OR_RETURN(Prediction predicted, predict(training, run.placement, communication));
    comparisons.push_back({run, std::move(predicted)});
  }
  return comparisons;
}

}  // namespace pop::pod::predict
