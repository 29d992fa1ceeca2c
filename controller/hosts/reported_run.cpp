// SPDX-License-Identifier: Apache-2.0
#include "controller/hosts/reported_run.h"

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

#include "common/base/text.h"

namespace pop {
namespace {

Status reported(int instance, const std::string& report, const std::string& what_is_wrong) {
  return internalError("its agent reports that instance " + std::to_string(instance) + ' ' + report +
                       ", which " + what_is_wrong);
}

// The range of waitpid: a greater code would be truncated in our own exit code, perhaps to 0.
bool isPossible(const contract::ExitStatus& status) {
  return status.code >= 0 && status.code <= 255 && status.signal >= 0 && status.signal < NSIG;
}

}  // namespace

ReportedRun::ReportedRun(const JobSlice& slice)
    : first_instance_(slice.instances.empty() ? 0 : slice.instances.front().env.instance_index),
      instances_(slice.instances.size(), InstanceState::kStarting),
      have_aborted_(slice.instances.size(), false) {}

Status ReportedRun::runs(int instance, const char* report) const {
  const std::int64_t local = std::int64_t{instance} - first_instance_;
  if (local >= 0 && local < static_cast<std::int64_t>(instances_.size())) return {};
  return reported(instance, report, "it was not asked to start");
}

Status ReportedRun::advance(int instance, InstanceEvent event, const char* report) {
  POP_RETURN_IF_ERROR(runs(instance, report));
  InstanceState& state = instances_[indexOf(instance)];
  const auto next = step(state, event);
  if (!next) {
    return internalError("its agent reports out of order that instance " + std::to_string(instance) + ' ' +
                         report);
  }
  state = *next;
  return {};
}

Status ReportedRun::ended(int instance, const contract::ExitStatus& status) {
  if (!isPossible(status)) return reported(instance, contract::describe(status), "is impossible");
  return advance(instance, InstanceEvent::kEnded, "has ended");
}

bool ReportedRun::allAreClosed() const {
  return std::all_of(instances_.begin(), instances_.end(),
                     [](InstanceState each) { return each == InstanceState::kClosed; });
}

Result<bool> ReportedRun::aborted(int instance, int exit_code) {
  POP_RETURN_IF_ERROR(runs(instance, "asks to end the job"));
  if (exit_code < 1 || exit_code > 255)
    return reported(instance, "asks to end the job with code " + std::to_string(exit_code), "is impossible");
  const bool is_first = !have_aborted_[indexOf(instance)];
  have_aborted_[indexOf(instance)] = true;
  return is_first;
}

Status ReportedRun::stacks(const std::vector<StackTrace>& traces) const {
  if (traces.size() > instances_.size())
    return internalError("its agent reports stacks of more instances than it was asked to start");
  for (const StackTrace& trace : traces) POP_RETURN_IF_ERROR(runs(trace.instance, "has a stack"));
  return {};
}

Result<std::optional<PutValues>> ReportedRun::fenceReached(FenceReachedReport report) {
  Fence& fence = fences_.at(static_cast<std::size_t>(report.fence));
  report.values.merge(fence.crossed);
  fence.crossed.clear();
  if (!fence.bytes.add(report.values))
    return internalError("its agent reports more than 128 MiB of values for one fence");
  if (report.released < 0 || report.released > fence.releases)
    return internalError("its agent reports a fence behind one that has not been released");
  if (report.released == fence.releases) return std::optional(std::move(report.values));
  // Instances that had given up waiting have reached a fence again whose release is on its way to them.
  fence.crossed = std::move(report.values);
  return std::optional<PutValues>();
}

void ReportedRun::fenceReleased(FenceId fence) {
  Fence& released = fences_.at(static_cast<std::size_t>(fence));
  ++released.releases;
  released.bytes.reset();
}

}  // namespace pop
