// SPDX-License-Identifier: Apache-2.0
#include "pod/predict/runs_table.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "common/base/similar_word.h"
#include "common/base/text.h"
#include "pod/system/units.h"

namespace pop::pod::predict {
namespace {

constexpr std::size_t kMostRuns = 10'000;
constexpr std::int64_t kMostInCell = 1'000'000;

enum Column : std::uint8_t {
  kSystem,
  kReplicas,
  kMicroBatch,
  kAccumulation,
  kIpus,
  kStages,
  kStepMs,
  kSamplesPerS,
  kNote,
  kColumns
};
constexpr std::array<std::string_view, kColumns> kNames = {
    "system",  "replicas",      "micro_batch", "gradient_accumulation", "ipus_per_replica", "stages",
    "step_ms", "samples_per_s", "note"};

// Which cell of a row a column is; nothing: the table has no such column.
using Header = std::array<std::optional<std::size_t>, kColumns>;

std::string listOf(std::span<const std::string_view> names) {
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

Status checkHeader(const Header& header) {
  for (const Column column : {kSystem, kReplicas, kMicroBatch, kAccumulation}) {
    if (!header[column]) return invalidArgument("the header has no column " + std::string(kNames[column]));
  }
  if (!header[kIpus] && !header[kStages])
    return invalidArgument("the header has neither ipus_per_replica nor stages");
  if (header[kStepMs].has_value() == header[kSamplesPerS].has_value())
    return invalidArgument("the header needs one column of step_ms and samples_per_s");
  return {};
}

Result<Header> parseHeader(const std::vector<std::string>& cells) {
  Header header;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string_view name = trimmed(cells[i]);
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end()) {
      const std::string_view similar = similarWord(name, kNames);
      return invalidArgument("unknown column " + inQuotes(name) +
                             (similar.empty() ? ": the columns are " + listOf(kNames)
                                              : ": did you mean " + std::string(similar) + '?'));
    }
    std::optional<std::size_t>& place = header[static_cast<std::size_t>(found - kNames.begin())];
    if (place) return invalidArgument("column " + std::string(name) + " is there twice");
    place = i;
  }
  POP_RETURN_IF_ERROR(checkHeader(header));
  return header;
}

class RowReader {
 public:
  RowReader(const Header& header, const std::vector<std::string>& cells) : header_(header), cells_(cells) {}

  std::string_view cell(Column column) const { return trimmed(cells_[*header_[column]]); }

  Result<std::int64_t> count(Column column) const {
    return named(column, countOf(cell(column), kMostInCell));
  }
  Result<double> positive(Column column) const { return named(column, positiveOf(cell(column))); }

  // A program that differs from the model's needs a table, and a model, of its own.
  Status checkSame(Column column, int expected) const {
    if (!header_[column]) return {};
    POP_ASSIGN_OR_RETURN(const std::int64_t value, count(column));
    if (value == expected) return {};
    return invalidArgument(std::string(kNames[column]) + " is " + std::to_string(value) +
                           ", and the model has " + std::to_string(expected) +
                           ": another program needs a table and a model of its own");
  }

 private:
  template <typename T>
  Result<T> named(Column column, Result<T> value) const {
    if (value.ok()) return value;
    return invalidArgument(std::string(kNames[column]) + ": " + value.status().message());
  }

  const Header& header_;
  const std::vector<std::string>& cells_;
};

Result<double> stepSeconds(const RowReader& row, const Header& header, const Training& training,
                           const Placement& placement) {
  if (header[kStepMs]) {
    POP_ASSIGN_OR_RETURN(const double step_ms, row.positive(kStepMs));
    return step_ms * 1e-3;
  }
  POP_ASSIGN_OR_RETURN(const double samples_per_s, row.positive(kSamplesPerS));
  return static_cast<double>(placement.replicas * placement.micro_batch * placement.gradient_accumulation) *
         training.samples_per_element / samples_per_s;
}

Result<MeasuredRun> parseRow(const Header& header, const std::vector<std::string>& cells,
                             const Training& training, const SystemByName& system_by_name) {
  const RowReader row(header, cells);
  MeasuredRun run;
  Placement& placement = run.placement;
  POP_ASSIGN_OR_RETURN(placement.system, system_by_name(row.cell(kSystem)));
  if (placement.system.chip != training.chip)
    return invalidArgument(placement.system.name + " has " + placement.system.chip +
                           " IPUs, and the model is of " + training.chip +
                           " IPUs: another chip needs a table and a model of its own");
  POP_ASSIGN_OR_RETURN(const std::int64_t replicas, row.count(kReplicas));
  placement.replicas = static_cast<int>(replicas);
  POP_ASSIGN_OR_RETURN(placement.micro_batch, row.count(kMicroBatch));
  POP_ASSIGN_OR_RETURN(placement.gradient_accumulation, row.count(kAccumulation));
  POP_RETURN_IF_ERROR(row.checkSame(kIpus, training.ipus_per_replica));
  POP_RETURN_IF_ERROR(row.checkSame(kStages, training.stages));
  const Result<int> domains = domainsOf(placement, training.ipus_per_replica);
  if (!domains.ok()) return domains.status();
  POP_ASSIGN_OR_RETURN(run.step_s, stepSeconds(row, header, training, placement));
  return run;
}

}  // namespace

Result<std::vector<MeasuredRun>> parseRuns(std::string_view text, std::string_view file,
                                           const Training& training, const SystemByName& system_by_name) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a spreadsheet's mark of UTF-8
  std::optional<Header> header;
  std::size_t columns = 0;
  std::vector<MeasuredRun> runs;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const std::string where = inQuotes(file) + ", line " + std::to_string(number) + ": ";
    const std::vector<std::string> cells = split(line, ',');
    if (!header) {
      Result<Header> parsed = parseHeader(cells);
      if (!parsed.ok()) return invalidArgument(where + parsed.status().message());
      header = *parsed;
      columns = cells.size();
      continue;
    }
    if (cells.size() != columns)
      return invalidArgument(where + counted(static_cast<std::int64_t>(cells.size()), "cell") +
                             ", and the header has " + std::to_string(columns) +
                             ": cells hold no commas, and none is left out");
    if (runs.size() == kMostRuns) return invalidArgument(where + "there are more than 10,000 rows");
    Result<MeasuredRun> run = parseRow(*header, cells, training, system_by_name);
    if (!run.ok()) return invalidArgument(where + run.status().message());
    run->line = number;
    runs.push_back(*run);
  }
  if (runs.empty()) return invalidArgument(inQuotes(file) + " has no rows of measured runs");
  return runs;
}

}  // namespace pop::pod::predict
