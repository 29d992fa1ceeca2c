// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/host_bounds.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "common/contract/exit_code.h"

namespace pop::popdistd {
namespace {

constexpr std::size_t kMostNameBytes = 253;   // of a host in the DNS
constexpr std::int64_t kMostCount = 100'000;  // of slots, cores and memory nodes
constexpr std::int64_t kMostPort = 65535;

struct Number {
  const char* name;
  std::int64_t value;
  std::int64_t most;
};

bool cut(std::string* text, std::size_t most = kMostTextBytes) {
  std::string whole = bounded(*text, most);
  if (whole == *text) return false;
  *text = std::move(whole);
  return true;
}

bool boundOutcome(v1::JobOutcome& outcome) {
  bool changed = cut(outcome.mutable_why_not_again());
  if (outcome.exit_code() < 0 || outcome.exit_code() > 255) {
    outcome.set_exit_code(contract::kExitLauncherFailed);
    changed = true;
  }
  if (outcome.has_failure()) {
    changed |= cut(outcome.mutable_failure()->mutable_reason());
    changed |= cut(outcome.mutable_failure()->mutable_host());
  }
  for (v1::StackTrace& each : *outcome.mutable_stack_traces()) {
    changed |= cut(each.mutable_text(), kMostStackTraceBytes);
    changed |= cut(each.mutable_host());
  }
  return changed;
}

}  // namespace

Status checkJoins(const v1::HostJoins& joins) {
  if (joins.name().empty() || printable(joins.name()) != joins.name())
    return invalidArgument("a host must have a name, without control characters");
  if (joins.name().size() > kMostNameBytes)
    return invalidArgument("a host's name has " + std::to_string(joins.name().size()) +
                           " bytes: it can have 253 (popdist-agent serve --name)");
  const std::uint64_t memory = std::min<std::uint64_t>(joins.memory_bytes(), INT64_MAX);
  const Number numbers[] = {{"slots (--slots)", joins.slots(), kMostCount},
                            {"cores", joins.num_cores(), kMostCount},
                            {"memory nodes", joins.num_memory_nodes(), kMostCount},
                            {"bytes of memory", static_cast<std::int64_t>(memory), kMostNumber},
                            {"as its agent's port", joins.agent_port(), kMostPort}};
  for (const Number& each : numbers) {
    if (each.value >= 0 && each.value <= each.most) continue;
    return invalidArgument("host " + inQuotes(joins.name()) + " says that it has " +
                           std::to_string(each.value) + ' ' + each.name + ", which is not between 0 and " +
                           std::to_string(each.most));
  }
  return {};
}

void bound(v1::HostReport& report) {
  switch (report.body_case()) {
    case v1::HostReport::kRefused: {
      v1::RunnerRefused& refused = *report.mutable_refused();
      cut(refused.mutable_why());
      const bool is_code = refused.code() > 0 && refused.code() <= static_cast<int>(Code::kDataLoss);
      if (!is_code) refused.set_code(static_cast<int>(Code::kUnknown));
      break;
    }
    case v1::HostReport::kGone:
      cut(report.mutable_gone()->mutable_why());
      break;
    case v1::HostReport::kSaid:
      if (report.said().report().has_end())
        cut(report.mutable_said()->mutable_report()->mutable_end()->mutable_problem());
      break;
    default:
      break;
  }
}

bool bound(v1::JobEvent& event) {
  switch (event.body_case()) {
    case v1::JobEvent::kLog:
      return cut(event.mutable_log()->mutable_text());
    case v1::JobEvent::kRestarting:
      return boundOutcome(*event.mutable_restarting()->mutable_failed());
    case v1::JobEvent::kSaid:
      return cut(event.mutable_said()->mutable_line());
    case v1::JobEvent::kOutcome:
      return boundOutcome(*event.mutable_outcome());
    default:
      return false;
  }
}

}  // namespace pop::popdistd
