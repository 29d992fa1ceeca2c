// SPDX-License-Identifier: Apache-2.0
// Validates an agent's reports on the run that it was asked for, before the job acts on them. An error says
// what is impossible; the link must then be closed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/ports/agent_messages.h"
#include "common/ports/fence_bytes.h"
#include "controller/core/instance_fsm.h"

namespace pop {

class ReportedRun {
 public:
  ReportedRun() = default;  ///< no run yet: every report is an error
  explicit ReportedRun(const JobSlice& slice);

  /// True if the agent was asked to start `instance`; `report`, such as "has started", is for the error.
  Status runs(int instance, const char* report) const;
  Status started(int instance) { return advance(instance, InstanceEvent::kStarted, "has started"); }
  Status ended(int instance, const contract::ExitStatus& status);
  Status closed(int instance) { return advance(instance, InstanceEvent::kClosed, "is closed"); }
  bool allAreClosed() const;

  /// True for the instance's first request to end the job; later ones are redundant.
  Result<bool> aborted(int instance, int exit_code);
  Status stacks(const std::vector<StackTrace>& traces) const;

  /// The values to add to the job's fence; nothing if the report is for the previous fence: its values are
  /// kept for the next one.
  Result<std::optional<PutValues>> fenceReached(FenceReachedReport report);
  void fenceReleased(FenceId fence);

  /// In bytes. Beyond its window an agent may send what ended instances left behind: unfinished lines and the
  /// contents of their pipes.
  std::int64_t mostOutput() const {
    return kOutputWindowBytes * static_cast<std::int64_t>(1 + instances_.size());
  }

 private:
  Status advance(int instance, InstanceEvent event, const char* report);
  std::size_t indexOf(int instance) const { return static_cast<std::size_t>(instance - first_instance_); }

  struct Fence {
    std::int64_t releases = 0;
    FenceBytes bytes{FenceBytes::kMostReported};  ///< since the last release
    PutValues crossed;  ///< values put for a fence that has been released since; they go to the next one
  };

  int first_instance_ = 0;                ///< the first one that this host runs
  std::vector<InstanceState> instances_;  ///< in order from the first
  std::vector<bool> have_aborted_;        ///< of these
  std::array<Fence, kNumFences> fences_;
};

}  // namespace pop
