// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/replay_report.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>
#include <vector>

#include "common/base/json.h"
#include "common/base/text.h"
#include "pod/chakra/rank_work.h"
#include "pod/clock/bounds.h"
#include "pod/clock/tuner.h"
#include "poprun/cli/file_text.h"
#include "poprun/command/named_systems.h"
#include "scaling/figures.h"

namespace pop {
namespace {

using pod::chakra::RankWork;
using pod::chakra::TracedCollective;
using scaling::percentText;
using scaling::timeText;

struct TimedCollective {
  std::string algorithm;
  double seconds = 0;
  double bound_s = 0;

  double efficiency() const { return seconds > 0 ? bound_s / seconds : 1; }
};

struct Replayed {
  std::string node;
  TracedCollective collective;
  TimedCollective timed;
  double begin_s = 0;
};

struct Replay {
  pod::ReplicaLayout layout;
  std::vector<Replayed> collectives;
  double computation_s = 0;  ///< of the slowest between any two collectives
  double collectives_s = 0;
  double bound_s = 0;  ///< of the collectives

  double all_s() const { return computation_s + collectives_s; }
  double efficiency() const { return collectives_s > 0 ? bound_s / collectives_s : 1; }
};

std::string fileOf(const std::string& prefix, int rank) {
  return prefix + '.' + std::to_string(rank) + ".et";
}

bool isTraceOf(const std::string& prefix, const std::string& file) {
  constexpr std::string_view kSuffix = ".et";
  if (!file.starts_with(prefix + '.') || !file.ends_with(kSuffix)) return false;
  const std::size_t begin = prefix.size() + 1;
  if (file.size() <= begin + kSuffix.size()) return false;
  const std::string rank = file.substr(begin, file.size() - kSuffix.size() - begin);
  return std::ranges::all_of(rank, [](char c) { return c >= '0' && c <= '9'; });
}

// The number of files PREFIX.<digits>.et.
Result<int> countTraces(const std::string& prefix) {
  const std::filesystem::path path(prefix);
  const std::filesystem::path directory = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  int count = 0;
  for (std::filesystem::directory_iterator each(directory, error), end; !error && each != end;
       each.increment(error))
    count += isTraceOf(path.filename(), each->path().filename()) ? 1 : 0;
  if (error) return errnoStatus(directory.native(), error.value());
  if (count > 0) return count;
  return invalidArgument("--replay " + prefix + ": there is no trace " + fileOf(prefix, 0));
}

Result<int> ranksOf(const cli::SimulateOptions& options) {
  POP_ASSIGN_OR_RETURN(const int count, countTraces(options.replay));
  if (!options.replicas || *options.replicas == count) return count;
  return invalidArgument("--replay " + options.replay + ": there are traces of " + counted(count, "rank") +
                         ", and " + "--num-replicas is " + std::to_string(*options.replicas));
}

Result<RankWork> readWork(const std::string& file) {
  POP_ASSIGN_OR_RETURN(const std::string bytes, cli::readRegularFileText(file));
  POP_ASSIGN_OR_RETURN(const std::vector<pod::chakra::TraceNode> nodes,
                       pod::chakra::readExecutionTrace(bytes, file));
  return pod::chakra::workOf(nodes, file);
}

Result<RankWork> workOfAll(const std::string& prefix, int ranks) {
  const std::string first_file = fileOf(prefix, 0);
  RankWork all;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string file = fileOf(prefix, rank);
    Result<RankWork> work = readWork(file);
    if (!work.ok()) return work.status();
    if (rank == 0) {
      all = std::move(*work);
    } else {
      POP_RETURN_IF_ERROR(pod::chakra::join(all, first_file, *work, file));
    }
  }
  return all;
}

std::uint64_t vectorBytes(const TracedCollective& collective, int replicas) {
  const bool is_part = collective.kind == pod::CollectiveKind::kAllGather;
  return collective.bytes * (is_part ? static_cast<std::uint64_t>(replicas) : 1);
}

// Traces repeat the same few collectives.
class CollectiveTimes {
 public:
  CollectiveTimes(const pod::ReplicaLayout& layout, AlgorithmChoice choice)
      : topology_(layout.spec), layout_(layout), choice_(choice) {}

  Result<TimedCollective> of(const TracedCollective& collective) {
    const auto key = std::tuple(collective.kind, collective.bytes, collective.element_bytes);
    if (const auto known = times_.find(key); known != times_.end()) return known->second;
    POP_ASSIGN_OR_RETURN(const TimedCollective found, timed(collective));
    return times_.emplace(key, found).first->second;
  }

 private:
  Result<TimedCollective> timed(const TracedCollective& collective) const {
    const std::uint64_t bytes = vectorBytes(collective, layout_.replicas);
    const pod::Collective whole{.kind = collective.kind,
                                .group = layout_.replicas,
                                .count = (bytes + collective.element_bytes - 1) / collective.element_bytes,
                                .element_bytes = collective.element_bytes};
    const auto choose = choice_ == AlgorithmChoice::kQuickest ? pod::quickestSchedule : pod::gclChoice;
    const pod::TimedSchedule way = choose(topology_, layout_, whole);
    if (!way.time.isCounted()) return takesTooLong(whole, layout_.spec);
    return TimedCollective{way.name, secondsOf(way.time.total),
                           secondsOf(pod::lowerBound(topology_, layout_, whole))};
  }

  const pod::Topology topology_;
  const pod::ReplicaLayout& layout_;
  const AlgorithmChoice choice_;
  std::map<std::tuple<pod::CollectiveKind, std::uint64_t, std::uint32_t>, TimedCollective> times_;
};

Status checkSizes(const RankWork& work, int ranks) {
  for (const auto& [computation, node] : work.collectives) {
    if (node.collective->kind == pod::CollectiveKind::kAllGather &&
        node.collective->bytes > pod::chakra::kMostTracedBytes / static_cast<std::uint64_t>(ranks))
      return invalidArgument(pod::chakra::inWords(node) + ": all ranks together gather more than " +
                             std::to_string(pod::chakra::kMostTracedBytes) + " bytes");
  }
  return {};
}

Result<Replay> replayOn(const pod::PodSpec& system, const cli::SimulateOptions& options, const RankWork& work,
                        int ranks) {
  Replay replay;
  POP_ASSIGN_OR_RETURN(replay.layout, layoutOn(system, ranks, options.ipus_per_replica));
  CollectiveTimes times(replay.layout, choiceOf(options.algorithm));
  for (const auto& [computation, node] : work.collectives) {
    replay.computation_s += secondsOf(computation);
    const Result<TimedCollective> found = times.of(*node.collective);
    if (!found.ok()) return invalidArgument(pod::chakra::inWords(node) + ": " + found.status().message());
    const TimedCollective& timed = found.value();
    replay.collectives.push_back({node.name, *node.collective, timed, replay.all_s()});
    replay.collectives_s += timed.seconds;
    replay.bound_s += timed.bound_s;
  }
  replay.computation_s += secondsOf(work.computation_after);
  return replay;
}

std::string tableText(const Replay& replay) {
  std::vector<std::vector<std::string>> rows{{"node", "collective", "bytes of a replica", "begins", "time",
                                              "at least", "of the bound", "algorithm"}};
  for (const Replayed& each : replay.collectives)
    rows.push_back({printable(each.node), std::string(pod::nameOf(each.collective.kind)),
                    sizeText(each.collective.bytes), timeText(each.begin_s), timeText(each.timed.seconds),
                    timeText(each.timed.bound_s), percentText(each.timed.efficiency()),
                    each.timed.algorithm});
  return "## Replay on " + replay.layout.spec.name + ", " + counted(replay.layout.replicas, "replica") +
         " of " + counted(replay.layout.ipus_per_replica, "IPU") + "\n\n" + scaling::tableOf(rows, true) +
         "\nIn all " + timeText(replay.all_s()) + ": " + timeText(replay.computation_s) +
         " of computation, by the slowest replica before each collective, and " +
         timeText(replay.collectives_s) + " of collectives, which take\nat least " +
         timeText(replay.bound_s) + " on these links (" + percentText(replay.efficiency()) + ").\n";
}

std::string jsonText(const Replay& replay) {
  std::string rows;
  for (const Replayed& each : replay.collectives) {
    JsonObject row;
    row.text("node", each.node).text("collective", pod::nameOf(each.collective.kind));
    row.number("bytes", static_cast<std::int64_t>(each.collective.bytes))
        .text("algorithm", each.timed.algorithm);
    row.json("begin_seconds", numberText(each.begin_s)).json("seconds", numberText(each.timed.seconds));
    row.json("bound_seconds", numberText(each.timed.bound_s));
    row.json("efficiency", numberText(each.timed.efficiency()));
    rows += (rows.empty() ? "" : ",") + row.str();
  }
  JsonObject line;
  line.text("system", replay.layout.spec.name).number("replicas", replay.layout.replicas);
  line.number("ipus_per_replica", replay.layout.ipus_per_replica).json("seconds", numberText(replay.all_s()));
  line.json("computation_seconds", numberText(replay.computation_s));
  line.json("collectives_seconds", numberText(replay.collectives_s));
  line.json("bound_seconds", numberText(replay.bound_s));
  line.json("efficiency", numberText(replay.efficiency()));
  return line.json("collectives", '[' + rows + ']').str();
}

}  // namespace

Result<std::string> replayReport(const cli::SimulateOptions& options) {
  POP_ASSIGN_OR_RETURN(const std::vector<pod::PodSpec> systems, systemsOf(options.systems, options.what_if));
  POP_ASSIGN_OR_RETURN(const int ranks, ranksOf(options));
  POP_ASSIGN_OR_RETURN(const RankWork work, workOfAll(options.replay, ranks));
  POP_RETURN_IF_ERROR(checkSizes(work, ranks));
  std::vector<std::string> texts;
  const bool as_json = options.form == cli::SimulateForm::kJson;
  for (const pod::PodSpec& system : systems) {
    POP_ASSIGN_OR_RETURN(const Replay replay, replayOn(system, options, work, ranks));
    texts.push_back(as_json ? jsonText(replay) : tableText(replay));
  }
  return as_json ? "{\"systems\":[" + join(texts, ",") + "]}\n" : join(texts, "\n");
}

Status writeTraces(const std::string& prefix, int ranks, std::span<const pod::chakra::TraceNode> nodes) {
  const std::string bytes = pod::chakra::executionTrace(nodes);
  for (int rank = 0; rank < ranks; ++rank)
    POP_RETURN_IF_ERROR(cli::writeFileText(fileOf(prefix, rank), bytes, false));
  return {};
}

}  // namespace pop
