// SPDX-License-Identifier: Apache-2.0
#include "scaling/row.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/base/json.h"
#include "common/base/json_reader.h"
#include "common/base/text.h"

namespace pop::scaling {
namespace {

constexpr std::size_t kMostRows = 100'000;
constexpr std::size_t kMostLineBytes = std::size_t{64} * 1024;
constexpr double kMostSeconds = 1e9;
constexpr std::int64_t kMostReplicas = 1'000'000;
constexpr std::int64_t kMostCount = 1'000'000'000'000;

template <typename Target, typename Number>
struct Member {
  const char* name;
  Number Target::*field;
};
constexpr Member<Seconds, double> kSeconds[] = {
    {"all", &Seconds::all},       {"input", &Seconds::input},         {"step", &Seconds::step},
    {"update", &Seconds::update}, {"reduction", &Seconds::reduction}, {"constant", &Seconds::constant},
};
constexpr Member<Outside, double> kOutside[] = {
    {"start", &Outside::start},
    {"checkpoints", &Outside::checkpoints},
    {"evaluations", &Outside::evaluations},
};
constexpr Member<OnPod, double> kOnPod[] = {
    {"collectives", &OnPod::collectives},
    {"all_reduce_estimate", &OnPod::all_reduce_estimate},
};
struct Count {
  const char* name;
  std::int64_t Row::*field;
  std::int64_t least;
  std::int64_t most;
};
constexpr Count kCounts[] = {
    {"replicas", &Row::replicas, 1, kMostReplicas},
    {"instances", &Row::instances, 1, kMostReplicas},
    {"micro_batch", &Row::micro_batch, 0, kMostReplicas},
    {"accumulation", &Row::accumulation, 1, kMostReplicas},
    {"updates", &Row::updates, 0, kMostCount},
};

template <typename Target, std::size_t n>
std::string objectOf(const Target& values, const Member<Target, double> (&members)[n]) {
  JsonObject object;
  for (const auto& member : members) object.json(member.name, numberText(values.*member.field));
  return object.str();
}

template <typename Target, std::size_t n>
Status readSeconds(const JsonValue& object, const std::string& where,
                   const Member<Target, double> (&members)[n], Target& values) {
  for (const auto& member : members) {
    const JsonValue* const value = object.find(member.name);
    const std::optional<double> number = value != nullptr ? value->number() : std::nullopt;
    if (!number || !std::isfinite(*number) || *number < 0 || *number > kMostSeconds)
      return invalidArgument(where + "." + member.name +
                             (value == nullptr ? " is missing" : " is out of range") +
                             ": expected seconds, a number from 0 to 1e9");
    values.*member.field = *number;
  }
  return {};
}

Status readCounts(const JsonValue& object, Row& row) {
  for (const Count& count : kCounts) {
    const JsonValue* const value = object.find(count.name);
    const std::optional<std::uint64_t> number = value != nullptr ? value->uint64() : std::nullopt;
    if (!number || *number < static_cast<std::uint64_t>(count.least) ||
        *number > static_cast<std::uint64_t>(count.most))
      return invalidArgument(count.name + std::string(value == nullptr ? " is missing" : " is out of range") +
                             ": expected a whole number from " + std::to_string(count.least) + " to " +
                             std::to_string(count.most));
    row.*count.field = static_cast<std::int64_t>(*number);
  }
  return {};
}

// Clocks are read between the parts: they never come to more than the whole.
Status checkTogether(const Row& row) {
  const Seconds& seconds = row.seconds;
  const double parts = seconds.input + seconds.step + seconds.reduction + seconds.update;
  if (row.instances > row.replicas)
    return invalidArgument(std::to_string(row.instances) + " instances have only " +
                           counted(row.replicas, "replica"));
  if (row.updates > 0 && row.micro_batch == 0)
    return invalidArgument("micro_batch is 0, and there are updates");
  if (row.updates > 0 && seconds.all == 0) return invalidArgument("seconds.all is 0, and there are updates");
  if (parts > seconds.all * 1.01 + 1e-6)
    return invalidArgument("input, step, reduction and update take " + numberText(parts) +
                           " s together, more than seconds.all, " + numberText(seconds.all) + " s");
  return {};
}

Result<Row> parseRow(std::string_view line) {
  if (line.size() > kMostLineBytes) return Status{Code::kResourceExhausted, "is longer than 64 KiB"};
  POP_ASSIGN_OR_RETURN(const JsonValue value, parseJson(line));
  if (value.object() == nullptr) return invalidArgument("is no JSON object");
  Row row;
  POP_RETURN_IF_ERROR(readCounts(value, row));
  const JsonValue* const seconds = value.find("seconds");
  if (seconds == nullptr) return invalidArgument("seconds is missing");
  POP_RETURN_IF_ERROR(readSeconds(*seconds, "seconds", kSeconds, row.seconds));
  if (const JsonValue* const outside = value.find("outside"))
    POP_RETURN_IF_ERROR(readSeconds(*outside, "outside", kOutside, row.outside));
  if (const JsonValue* const pod = value.find("pod"))
    POP_RETURN_IF_ERROR(readSeconds(*pod, "pod", kOnPod, row.pod));
  POP_RETURN_IF_ERROR(checkTogether(row));
  return row;
}

}  // namespace

std::string lineOf(const Row& row) {
  JsonObject object;
  for (const Count& count : kCounts) object.number(count.name, row.*count.field);
  object.json("seconds", objectOf(row.seconds, kSeconds));
  object.json("outside", objectOf(row.outside, kOutside));
  object.json("pod", objectOf(row.pod, kOnPod));
  return object.str() + '\n';
}

Result<std::vector<Row>> parseRows(std::string_view text, std::string_view file) {
  std::vector<Row> rows;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const std::string where = inQuotes(file) + ", line " + std::to_string(number) + ": ";
    if (rows.size() == kMostRows)
      return Status{Code::kResourceExhausted, where + "there are more than 100,000 rows"};
    Result<Row> row = parseRow(line);
    if (!row.ok()) return Status{row.status().code(), where + row.status().message()};
    rows.push_back(*row);
  }
  if (rows.empty())
    return invalidArgument(inQuotes(file) + " has no rows: set POPDIST_SCALING_LOG for a training");
  return rows;
}

}  // namespace pop::scaling
