// SPDX-License-Identifier: Apache-2.0
// The jobs that a simulated daemon's store has, turn by turn: what it writes must follow from what was there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "popdistd/jobs/life/job_life_fsm.h"
#include "proto/popdist/v1/store.pb.h"

namespace pop::popdistd::testing {

class JobLedger {
 public:
  /// `broken` gets the words of each rule that is.
  explicit JobLedger(std::function<void(const std::string& rule)> broken) : broken_(std::move(broken)) {}

  // ---- a turn

  void wrote(const v1::JobInfo& job);
  void removed(std::int64_t job) { turn_[job] = std::nullopt; }
  void committed();
  void undone() { turn_.clear(); }

 private:
  struct Entry {
    v1::JobState state = v1::JOB_QUEUED;
    v1::JobEnd end = v1::END_NONE;
    std::int32_t attempt = 0;
  };
  const Entry* find(std::int64_t job) const;
  void check(std::int64_t job, const Entry& before, const Entry& now) const;

  const std::function<void(const std::string& rule)> broken_;
  std::map<std::int64_t, Entry> jobs_;                 ///< that are committed
  std::map<std::int64_t, std::optional<Entry>> turn_;  ///< changed since; none: it was removed
};

}  // namespace pop::popdistd::testing
