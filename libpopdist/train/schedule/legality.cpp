// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/schedule/legality.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "common/base/text.h"

namespace popdist::train {
namespace {

using pop::counted;
using pop::invalidArgument;
using pop::Status;

constexpr int kMostStages = 4096;
constexpr std::int64_t kMostCount = std::numeric_limits<std::int32_t>::max();

int levelsOf(const ScheduleOptions& options) {
  return static_cast<int>(options.levels.size());
}

/// The rule of a count in words, its least value and its unit.
struct Rule {
  std::string text;
  std::int64_t least = 1;
  std::int64_t multiple = 1;
};

Rule ruleOf(const ScheduleOptions& options) {
  const int overlap = overlapOf(options);
  const std::string whose = "the " + nameOf(options.kind) + " schedule of " +
                            counted(levelsOf(options), "stage") +
                            (options.training ? "" : " without training");
  const int together = options.batch_serialization_iterations;
  if (options.count_rule == CountRule::kAny && together == 1) return {whose + " needs at least 1", 1, 1};
  if (options.overlap_io)
    return {whose + " with overlap_io needs at least " + std::to_string(overlap + 2), overlap + 2, 1};
  if (options.count_rule == CountRule::kPopart)
    return {whose + " needs at least as many as it has stages", levelsOf(options), 1};
  if (together > 1)
    return {whose + " with batch_serialization_iterations needs a multiple of " + std::to_string(together),
            together, together};
  if (overlap == 1) return {whose + " needs at least 1", 1, 1};
  return {whose + " needs a multiple of " + std::to_string(overlap), overlap, overlap};
}

std::set<int> ipusOf(const ScheduleOptions& options) {
  std::set<int> ipus;
  for (const DeviceGroup& group : options.device_mapping) ipus.insert(group.ipus.begin(), group.ipus.end());
  return ipus;
}

Status checkSegments(const ScheduleOptions& options) {
  if (options.segments.empty()) return {};
  if (static_cast<int>(options.segments.size()) != stagesOf(options))
    return invalidArgument("segments has length " + std::to_string(options.segments.size()) + " for " +
                           counted(stagesOf(options), "stage") + ": it needs one entry for each");
  const int least = *std::min_element(options.segments.begin(), options.segments.end());
  const int most = *std::max_element(options.segments.begin(), options.segments.end());
  if (least >= 1 && most <= kMostStages) return {};
  return invalidArgument("a stage has " + counted(least < 1 ? least : most, "segment") + ", expected 1 to " +
                         std::to_string(kMostStages));
}

Status checkKind(const ScheduleOptions& options) {
  if (options.overlap_io && options.kind != ScheduleKind::kGrouped)
    return invalidArgument("overlap_io needs the Grouped schedule, not " + nameOf(options.kind) +
                           ": set kind to kGrouped, or leave overlap_io off");
  return {};
}

Status checkGroup(const ScheduleOptions& options, std::size_t level, std::map<int, int>& stage_on,
                  int& stage) {
  const std::vector<int>& ipus = options.device_mapping[level].ipus;
  const std::string entry = "device_mapping[" + std::to_string(level) + "]";
  if (static_cast<int>(ipus.size()) != options.levels[level])
    return invalidArgument(entry + " names " + counted(static_cast<int>(ipus.size()), "IPU") + " for " +
                           counted(options.levels[level], "stage") +
                           ": it needs one for each stage that runs there");
  for (const int ipu : ipus) {
    if (ipu < 0 || ipu >= kMostStages || (options.ipus > 0 && ipu >= options.ipus))
      return invalidArgument(entry + " is IPU " + std::to_string(ipu) + ", and the replica has IPUs 0 to " +
                             std::to_string((options.ipus > 0 ? options.ipus : kMostStages) - 1));
    const auto [other, fresh] = stage_on.emplace(ipu, stage);
    if (!fresh && options.kind == ScheduleKind::kInterleaved && options.training)
      return invalidArgument("stages " + std::to_string(other->second) + " and " + std::to_string(stage) +
                             " are both on IPU " + std::to_string(ipu) +
                             ", and the Interleaved schedule takes one stage on an IPU: give each its own in "
                             "device_mapping, or set kind to kGrouped");
    ++stage;
  }
  return {};
}

}  // namespace

std::string nameOf(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::kGrouped:
      return "Grouped";
    case ScheduleKind::kInterleaved:
      return "Interleaved";
    case ScheduleKind::kSequential:
      break;
  }
  return "Sequential";
}

int stagesOf(const ScheduleOptions& options) {
  return std::accumulate(options.levels.begin(), options.levels.end(), 0);
}

int periodOf(const ScheduleOptions& options) {
  const int levels = levelsOf(options);
  if (options.kind == ScheduleKind::kSequential) return options.training ? 2 * levels : levels;
  return options.kind == ScheduleKind::kInterleaved && options.training ? 2 : 1;
}

int overlapOf(const ScheduleOptions& options) {
  if (options.kind == ScheduleKind::kSequential) return 1;
  return (options.training ? 2 * levelsOf(options) : levelsOf(options)) / periodOf(options);
}

Status checkShape(const ScheduleOptions& options) {
  if (levelsOf(options) < 2)
    return invalidArgument(
        "a pipeline has " + counted(levelsOf(options), "stage") +
        ": it needs at least 2, one after the other; train a model without stages by a loop");
  int stages = 0;
  for (std::size_t level = 0; level < options.levels.size(); ++level) {
    if (options.levels[level] < 1 || options.levels[level] > kMostStages ||
        (stages += options.levels[level]) > kMostStages)
      return invalidArgument(
          "levels[" + std::to_string(level) + "] is " + std::to_string(options.levels[level]) +
          ": each level has at least one stage, and all together at most " + std::to_string(kMostStages));
  }
  if (options.ipus < 0 || options.ipus > kMostStages)
    return invalidArgument("ipus is " + std::to_string(options.ipus) + ", expected 1 to " +
                           std::to_string(kMostStages) + ", or 0 for as many as the mapping needs");
  POP_RETURN_IF_ERROR(checkSegments(options));
  return checkKind(options);
}

Status checkMapping(const ScheduleOptions& options) {
  if (options.device_mapping.size() != options.levels.size())
    return invalidArgument("device_mapping has length " + std::to_string(options.device_mapping.size()) +
                           " for " + counted(levelsOf(options), "stage") +
                           ": it needs one for each, with a list where stages run side by side");
  std::map<int, int> stage_on;
  int stage = 0;
  for (std::size_t level = 0; level < options.levels.size(); ++level)
    POP_RETURN_IF_ERROR(checkGroup(options, level, stage_on, stage));
  return {};
}

Status checkRecomputation(const ScheduleOptions& options) {
  const std::string kind = nameOf(options.kind);
  if (options.recompute_mode == RecomputeMode::kThenBackpropagate &&
      options.kind == ScheduleKind::kSequential)
    return invalidArgument(
        "recompute_mode is kThenBackpropagate, and the Sequential schedule recomputes stages segment by "
        "segment: "
        "set it to "
        "kAuto");
  if (options.recompute_mode == RecomputeMode::kAndBackpropagateInterleaved &&
      options.kind == ScheduleKind::kInterleaved)
    return invalidArgument(
        "recompute_mode is kAndBackpropagateInterleaved, and the Interleaved schedule recomputes whole "
        "stages: set it "
        "to kAuto, or kind to kGrouped");
  if (!options.explicit_checkpoints) return {};
  const std::set<int> ipus = ipusOf(options);
  const ScheduleKind needed = ipus.size() > 1 ? ScheduleKind::kGrouped : ScheduleKind::kSequential;
  if (options.kind == needed) return {};
  return invalidArgument("stages with checkpoints of their own on " +
                         counted(static_cast<int>(ipus.size()), "IPU") + " need the " + nameOf(needed) +
                         " schedule, not " + kind + ": set kind, or recompute from the stages' inputs alone");
}

Status checkBatchSerialization(const ScheduleOptions& options) {
  const int together = options.batch_serialization_iterations;
  const std::string what = "batch_serialization_iterations is " + std::to_string(together);
  if (together < 1) return invalidArgument(what + ", expected 1 or more");
  if (together == 1) return {};
  if (options.kind != ScheduleKind::kSequential)
    return invalidArgument(what + ", which needs the Sequential schedule, not " + nameOf(options.kind) +
                           ": set kind to kSequential, or leave it at 1");
  const std::set<int> ipus = ipusOf(options);
  if (ipus.size() == 1) return {};
  return invalidArgument(what + ", which needs all stages on one IPU, and they are on " +
                         counted(static_cast<int>(ipus.size()), "IPU") +
                         ": name the same one for each in device_mapping, or leave it at 1");
}

RecomputeMode modeOf(const ScheduleOptions& options) {
  if (options.recompute_mode != RecomputeMode::kAuto) return options.recompute_mode;
  return options.kind == ScheduleKind::kSequential ? RecomputeMode::kAndBackpropagateInterleaved
                                                   : RecomputeMode::kThenBackpropagate;
}

Status checkCountIsLegal(const ScheduleOptions& options, std::int64_t count) {
  const Rule rule = ruleOf(options);
  if (count >= rule.least && count % rule.multiple == 0 && count <= kMostCount) return {};
  const std::string what = "gradient_accumulation_count is " + std::to_string(count) + ", and ";
  if (count > kMostCount)
    return invalidArgument(what + "at most " + std::to_string(kMostCount) + " is possible");
  const std::int64_t next = count < rule.least ? rule.least : (count / rule.multiple + 1) * rule.multiple;
  return invalidArgument(what + rule.text + ": take " + std::to_string(next) + " or " +
                         std::to_string(next + rule.multiple));
}

}  // namespace popdist::train
