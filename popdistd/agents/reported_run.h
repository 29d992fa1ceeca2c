// SPDX-License-Identifier: Apache-2.0
// What an agent may report of the run that it was asked for. What another program says is checked before the
// job believes it: an error says what cannot be, and the link is of no more use.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/ports/agent_messages.h"
#include "common/ports/fence_bytes.h"
#include "popdistd/controller/instance_fsm.h"

namespace pop {

class ReportedRun {
 public:
  ReportedRun() = default;  ///< none yet: nothing may be reported
  explicit ReportedRun(const JobSlice& slice);

  /// It was asked to start `instance`, which `report`: "has started".
  Status runs(int instance, const char* report) const;
  Status started(int instance) { return advance(instance, InstanceEvent::kStarted, "has started"); }
  Status ended(int instance, const contract::ExitStatus& status);
  Status closed(int instance) { return advance(instance, InstanceEvent::kClosed, "is closed"); }
  bool allAreClosed() const;

  /// True: the first time that it asks to end the job, which is enough.
  Result<bool> aborted(int instance, int exit_code);
  Status stacks(const std::vector<StackTrace>& traces) const;

  /// What its fence brings to the job's; nothing when it is one behind, which is kept for the next.
  Result<std::optional<PutValues>> fenceReached(FenceReachedReport report);
  void fenceReleased();

  /// Bytes. Beyond its window an agent sends what instances leave behind: lines without an end, and what
  /// their pipes hold.
  std::int64_t mostOutput() const {
    return kOutputWindowBytes * static_cast<std::int64_t>(1 + instances_.size());
  }

 private:
  Status advance(int instance, InstanceEvent event, const char* report);
  std::size_t indexOf(int instance) const { return static_cast<std::size_t>(instance - first_instance_); }

  int first_instance_ = 0;                ///< of those that this host runs
  std::vector<InstanceState> instances_;  ///< in order from the first
  std::vector<bool> have_aborted_;        ///< of these
  std::int64_t fences_released_ = 0;
  FenceBytes fence_bytes_{FenceBytes::kMostReported};  ///< since a fence was released
  PutValues crossed_;  ///< put for a fence that has been released meanwhile: for the next one
};

}  // namespace pop
