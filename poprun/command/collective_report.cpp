// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/collective_report.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/json.h"
#include "common/base/text.h"
#include "pod/clock/bounds.h"
#include "pod/clock/waiting_circle.h"
#include "pod/system/system_text.h"
#include "pod/system/units.h"
#include "poprun/cli/file_text.h"
#include "poprun/command/named_systems.h"
#include "poprun/command/replay_report.h"
#include "scaling/figures.h"

namespace pop {
namespace {

using pod::TimedSchedule;
using scaling::percentText;
using scaling::timeText;

constexpr int kMostAllToAll = 1024;

struct Ways {
  pod::ReplicaLayout job;
  pod::ReplicaLayout layout;  ///< of the ranks: the job's replicas, or within replicas their IPUs
  pod::Collective collective;
  pod::Picoseconds bound{0};
  std::vector<TimedSchedule> ways;  ///< the quickest first
  std::string gcl_name;             ///< of GCL's choice, which is among them
};

bool isWithin(const Ways& found) {
  return found.layout.replicas != found.job.replicas;
}

std::string nameOf(const Ways& found) {
  return std::string(pod::nameOf(found.collective.kind));
}

// The first is GCL's choice, which is among the others, too, unless its halves differ.
void sortByTime(Ways& found) {
  found.gcl_name = found.ways.front().name;
  const auto same = [&](const TimedSchedule& each) { return each.name == found.gcl_name; };
  if (std::count_if(found.ways.begin(), found.ways.end(), same) > 1) found.ways.erase(found.ways.begin());
  std::ranges::stable_sort(found.ways, {}, [](const TimedSchedule& each) { return each.time.total; });
}

pod::CollectiveKind kindOf(const std::string& name) {
  pod::CollectiveKind kind = pod::CollectiveKind::kAllReduce;
  for (const auto each : {pod::CollectiveKind::kReduceScatter, pod::CollectiveKind::kAllGather,
                          pod::CollectiveKind::kAllToAll, pod::CollectiveKind::kBroadcast}) {
    if (pod::nameOf(each) == name) kind = each;
  }
  return kind;
}

Result<pod::ReplicaGroup> groupIn(const pod::ReplicaLayout& job, const cli::SimulateOptions& options) {
  const int all = options.within_replica ? job.ipus_per_replica : job.replicas;
  const pod::ReplicaGroup group(options.group_size == 0 ? all : options.group_size, options.group_stride);
  const Status status = options.within_replica ? pod::validateWithin(group, all) : pod::validate(group, all);
  if (!status.ok()) return invalidArgument("--group: on " + job.spec.name + ", " + status.message());
  return group;
}

Result<Ways> waysOn(const pod::PodSpec& system, const cli::SimulateOptions& options, std::uint64_t bytes) {
  POP_ASSIGN_OR_RETURN(pod::ReplicaLayout job, layoutOn(system, options.replicas, options.ipus_per_replica));
  POP_ASSIGN_OR_RETURN(const pod::ReplicaGroup group, groupIn(job, options));
  pod::ReplicaLayout ranks = options.within_replica ? pod::ofSingleIpus(job) : job;
  Ways found{std::move(job),
             std::move(ranks),
             {.kind = kindOf(options.collective),
              .group = group,
              .count = (bytes + kFloatBytes - 1) / kFloatBytes,
              .element_bytes = kFloatBytes}};
  if (found.collective.kind == pod::CollectiveKind::kAllToAll && group.size > kMostAllToAll)
    return invalidArgument("--collective: an all-to-all of " + std::to_string(group.size) +
                           " replicas has too many copies: take groups of " + std::to_string(kMostAllToAll) +
                           " at most");
  const pod::Topology topology(found.layout.spec);
  found.bound = pod::lowerBound(topology, found.layout, found.collective);
  found.ways = pod::timedSchedules(topology, found.layout, found.collective);
  const auto is_counted = [](const TimedSchedule& each) { return each.time.isCounted(); };
  if (!std::ranges::all_of(found.ways, is_counted)) return takesTooLong(found.collective, system);
  sortByTime(found);
  return found;
}

// Those that --algorithm names.
Result<std::vector<TimedSchedule>> chosen(const Ways& found, const std::string& algorithm) {
  if (algorithm == "quickest") return std::vector<TimedSchedule>{found.ways.front()};
  std::vector<TimedSchedule> ways;
  std::vector<std::string> names{"gcl", "quickest"};
  for (const TimedSchedule& each : found.ways) {
    names.push_back(each.name);
    const bool is_named = algorithm == "gcl" ? each.name == found.gcl_name : each.name.starts_with(algorithm);
    if (is_named) ways.push_back(each);
  }
  if (!ways.empty()) return ways;
  return invalidArgument("--algorithm: no " + nameOf(found) + " on " + found.layout.spec.name +
                         " is called " + inQuotes(algorithm) + ": use " + join(names, ", "));
}

std::string efficiencyText(const Ways& found, const TimedSchedule& way) {
  if (way.time.total == pod::Picoseconds(0)) return "100 %";
  return percentText(secondsOf(found.bound) / secondsOf(way.time.total));
}

std::string headingOf(const Ways& found) {
  std::string name = nameOf(found);
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  const pod::ReplicaGroup& group = found.collective.group;
  std::string in_groups = isWithin(found) ? " within replicas" : "";
  const int all = isWithin(found) ? found.job.ipus_per_replica : found.job.replicas;
  if (group.size < all) in_groups += " in groups of " + std::to_string(group.size);
  if (group.stride > 1) in_groups += ", " + std::to_string(group.stride) + " apart,";
  return "## " + name + " of " + sizeText(found.collective.bytes()) + in_groups;
}

// "ipu0, ipu2, …": long ones in part.
std::string nodesText(const Ways& found, const std::vector<int>& nodes) {
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::string> names;
  for (std::size_t at = 0; at < std::min(nodes.size(), kMostNamed); ++at)
    names.push_back(pod::nodeName(found.layout.spec, nodes[at]));
  if (nodes.size() > kMostNamed) names.push_back("… (" + std::to_string(nodes.size()) + " in all)");
  return join(names, ", ");
}

// Names the ways that hardware without virtual channels could not carry out as they are.
std::string circlesText(const Ways& found, const std::vector<TimedSchedule>& ways) {
  const pod::Topology topology(found.layout.spec);
  std::string text;
  for (const TimedSchedule& each : ways) {
    const auto circle = pod::waitingCircle(topology, found.layout, each.schedule);
    if (!circle) continue;
    text += each.name + ": copies of round " + std::to_string(circle->round) +
            " wait in a circle for the links of " + nodesText(found, circle->nodes) +
            ". They must be split; the time does not count that.\n";
  }
  return text.empty() ? text : "\n" + text;
}

std::string tableText(const Ways& found, const std::vector<TimedSchedule>& ways) {
  std::vector<std::vector<std::string>> rows{{"algorithm", "rounds", "time", "of the bound", "busiest link"}};
  for (const TimedSchedule& each : ways)
    rows.push_back({each.name + (each.name == found.gcl_name ? " (GCL's choice)" : ""),
                    std::to_string(each.time.rounds), timeText(secondsOf(each.time.total)),
                    efficiencyText(found, each), sizeText(each.time.bytes_on_busiest_link)});
  return headingOf(found) + " on " + found.layout.spec.name + ", " + counted(found.job.replicas, "replica") +
         " of " + counted(found.job.ipus_per_replica, "IPU") + "\n\n" + scaling::tableOf(rows, true) +
         "\nNo algorithm takes less than " + timeText(secondsOf(found.bound)) + " on these links.\n" +
         circlesText(found, ways);
}

std::string jsonText(const Ways& found, const std::vector<TimedSchedule>& ways) {
  const pod::Topology topology(found.layout.spec);
  std::string rows;
  for (const TimedSchedule& each : ways) {
    JsonObject row;
    row.text("algorithm", each.name).boolean("gcl_choice", each.name == found.gcl_name);
    row.number("rounds", each.time.rounds).json("seconds", numberText(secondsOf(each.time.total)));
    row.number("bytes_on_busiest_link", static_cast<std::int64_t>(each.time.bytes_on_busiest_link));
    if (const auto circle = pod::waitingCircle(topology, found.layout, each.schedule))
      row.text("waits_in_a_circle", nodesText(found, circle->nodes));
    rows += (rows.empty() ? "" : ",") + row.str();
  }
  JsonObject line;
  line.text("system", found.job.spec.name).number("replicas", found.job.replicas);
  line.number("ipus_per_replica", found.job.ipus_per_replica).boolean("within_replica", isWithin(found));
  line.text("collective", nameOf(found)).number("bytes", static_cast<std::int64_t>(found.collective.bytes()));
  line.number("group", found.collective.group.size).number("stride", found.collective.group.stride);
  line.json("bound_seconds", numberText(secondsOf(found.bound))).json("algorithms", '[' + rows + ']');
  return line.str();
}

// Each replica sends something in most rounds.
Status checkLength(const TimedSchedule& way, const cli::SimulateOptions& options) {
  constexpr std::int64_t kMostCopies = 1'000'000;
  const std::int64_t copies = std::int64_t{way.schedule.replicas} * way.schedule.rounds();
  if (copies <= kMostCopies || (!options.show_steps && options.trace.empty())) return {};
  return invalidArgument(
      std::string(options.show_steps ? "--show-steps" : "--trace") + ": " + way.name + " of " +
      counted(way.schedule.replicas, "replica") + " has some " + std::to_string(copies) +
      " copies, and a million are shown at most: take fewer replicas, or another --algorithm");
}

Result<std::string> textOn(const pod::PodSpec& system, const cli::SimulateOptions& options,
                           std::uint64_t bytes) {
  POP_ASSIGN_OR_RETURN(const Ways found, waysOn(system, options, bytes));
  std::vector<TimedSchedule> ways = found.ways;
  if (!options.algorithm.empty()) {
    POP_ASSIGN_OR_RETURN(ways, chosen(found, options.algorithm));
  }
  POP_RETURN_IF_ERROR(checkLength(ways.front(), options));
  if (!options.trace.empty()) {
    POP_ASSIGN_OR_RETURN(const std::string timeline,
                         timelineText(ways.front(), found.layout, found.collective));
    POP_RETURN_IF_ERROR(cli::writeFileText(options.trace, timeline, false));
  }
  if (!options.export_chakra.empty()) {
    const pod::chakra::TracedCollective traced{.bytes = bytes, .element_bytes = kFloatBytes};
    const std::vector<pod::chakra::TraceNode> nodes{{.name = "all-reduce", .collective = traced}};
    POP_RETURN_IF_ERROR(writeTraces(options.export_chakra, found.layout.replicas, nodes));
  }
  if (options.form == cli::SimulateForm::kJson) return jsonText(found, ways);
  return options.show_steps ? stepsText(ways.front(), found.job) : tableText(found, ways);
}

}  // namespace

Result<std::string> collectiveReport(const cli::SimulateOptions& options) {
  const Result<std::uint64_t> bytes = pod::bytesOf(options.collective_size);
  if (!bytes.ok()) return invalidArgument(options.collective + ": " + bytes.status().message());
  POP_ASSIGN_OR_RETURN(const std::vector<pod::PodSpec> systems, systemsOf(options.systems, options.what_if));
  const bool as_json = options.form == cli::SimulateForm::kJson;
  std::string text;
  for (const pod::PodSpec& system : systems) {
    POP_ASSIGN_OR_RETURN(const std::string of_system, textOn(system, options, bytes.value()));
    if (!text.empty()) text += as_json ? "," : "\n";
    text += of_system;
  }
  return as_json ? "{\"systems\":[" + text + "]}\n" : text;
}

}  // namespace pop
