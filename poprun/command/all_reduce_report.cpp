// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/all_reduce_report.h"

#include <algorithm>
#include <vector>

#include "common/base/json.h"
#include "common/base/text.h"
#include "pod/clock/bounds.h"
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

struct AllReduces {
  pod::ReplicaLayout layout;
  std::uint64_t bytes = 0;
  pod::Picoseconds bound{0};
  std::vector<TimedSchedule> ways;  ///< the quickest first
  std::string gcl_name;             ///< of GCL's choice, which is among them
};

// The first is GCL's choice, which is among the others, too, unless its halves differ.
void sortByTime(AllReduces& found) {
  found.gcl_name = found.ways.front().name;
  const auto same = [&](const TimedSchedule& each) { return each.name == found.gcl_name; };
  if (std::count_if(found.ways.begin(), found.ways.end(), same) > 1) found.ways.erase(found.ways.begin());
  std::ranges::stable_sort(found.ways, {}, [](const TimedSchedule& each) { return each.time.total; });
}

Result<AllReduces> allReducesOn(const pod::PodSpec& system, const cli::SimulateOptions& options,
                                std::uint64_t bytes) {
  AllReduces found;
  POP_ASSIGN_OR_RETURN(found.layout, layoutOn(system, options.replicas, options.ipus_per_replica));
  const pod::Topology topology(found.layout.spec);
  found.bytes = bytes;
  found.bound = pod::allReduceLowerBound(topology, found.layout, bytes);
  found.ways = pod::timedSchedules(topology, found.layout,
                                   {.group = found.layout.replicas,
                                    .count = (bytes + kFloatBytes - 1) / kFloatBytes,
                                    .element_bytes = kFloatBytes});
  sortByTime(found);
  return found;
}

// Those that --algorithm names.
Result<std::vector<TimedSchedule>> chosen(const AllReduces& found, const std::string& algorithm) {
  if (algorithm == "quickest") return std::vector<TimedSchedule>{found.ways.front()};
  std::vector<TimedSchedule> ways;
  std::vector<std::string> names{"gcl", "quickest"};
  for (const TimedSchedule& each : found.ways) {
    names.push_back(each.name);
    const bool is_named = algorithm == "gcl" ? each.name == found.gcl_name : each.name.starts_with(algorithm);
    if (is_named) ways.push_back(each);
  }
  if (!ways.empty()) return ways;
  return invalidArgument("--algorithm: no all-reduce on " + found.layout.spec.name + " is called " +
                         inQuotes(algorithm) + ": use " + join(names, ", "));
}

std::string efficiencyText(const AllReduces& found, const TimedSchedule& way) {
  if (way.time.total == pod::Picoseconds(0)) return "100 %";
  return percentText(secondsOf(found.bound) / secondsOf(way.time.total));
}

std::string tableText(const AllReduces& found, const std::vector<TimedSchedule>& ways) {
  std::vector<std::vector<std::string>> rows{{"algorithm", "rounds", "time", "of the bound", "busiest link"}};
  for (const TimedSchedule& each : ways)
    rows.push_back({each.name + (each.name == found.gcl_name ? " (GCL's choice)" : ""),
                    std::to_string(each.time.rounds), timeText(secondsOf(each.time.total)),
                    efficiencyText(found, each), sizeText(each.time.bytes_on_busiest_link)});
  return "## All-reduce of " + sizeText(found.bytes) + " on " + found.layout.spec.name + ", " +
         counted(found.layout.replicas, "replica") + " of " + counted(found.layout.ipus_per_replica, "IPU") +
         "\n\n" + scaling::tableOf(rows, true) + "\nNo algorithm takes less than " +
         timeText(secondsOf(found.bound)) + " on these links.\n";
}

std::string jsonText(const AllReduces& found, const std::vector<TimedSchedule>& ways) {
  std::string rows;
  for (const TimedSchedule& each : ways) {
    JsonObject row;
    row.text("algorithm", each.name).boolean("gcl_choice", each.name == found.gcl_name);
    row.number("rounds", each.time.rounds).json("seconds", numberText(secondsOf(each.time.total)));
    row.number("bytes_on_busiest_link", static_cast<std::int64_t>(each.time.bytes_on_busiest_link));
    rows += (rows.empty() ? "" : ",") + row.str();
  }
  JsonObject line;
  line.text("system", found.layout.spec.name).number("replicas", found.layout.replicas);
  line.number("ipus_per_replica", found.layout.ipus_per_replica);
  line.number("bytes", static_cast<std::int64_t>(found.bytes));
  line.json("bound_seconds", numberText(secondsOf(found.bound))).json("all_reduces", '[' + rows + ']');
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
  POP_ASSIGN_OR_RETURN(const AllReduces found, allReducesOn(system, options, bytes));
  std::vector<TimedSchedule> ways = found.ways;
  if (!options.algorithm.empty()) {
    POP_ASSIGN_OR_RETURN(ways, chosen(found, options.algorithm));
  }
  POP_RETURN_IF_ERROR(checkLength(ways.front(), options));
  if (!options.trace.empty()) {
    POP_ASSIGN_OR_RETURN(const std::string timeline, timelineText(ways.front(), found.layout, bytes));
    POP_RETURN_IF_ERROR(cli::writeFileText(options.trace, timeline, false));
  }
  if (!options.export_chakra.empty()) {
    const pod::chakra::TracedCollective traced{.bytes = bytes, .element_bytes = kFloatBytes};
    const std::vector<pod::chakra::TraceNode> nodes{{.name = "all-reduce", .collective = traced}};
    POP_RETURN_IF_ERROR(writeTraces(options.export_chakra, found.layout.replicas, nodes));
  }
  if (options.form == cli::SimulateForm::kJson) return jsonText(found, ways);
  return options.show_steps ? stepsText(ways.front(), found.layout) : tableText(found, ways);
}

}  // namespace

Result<std::string> allReduceReport(const cli::SimulateOptions& options) {
  const Result<std::uint64_t> bytes = pod::bytesOf(options.all_reduce);
  if (!bytes.ok()) return invalidArgument("--all-reduce: " + bytes.status().message());
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
