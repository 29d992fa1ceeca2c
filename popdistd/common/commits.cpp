// SPDX-License-Identifier: Apache-2.0
#include "popdistd/common/commits.h"

#include <chrono>
#include <utility>

namespace pop::popdistd {

void Commits::wrote(Status status) {
  if (!status.ok() && problem_.ok()) problem_ = std::move(status);
  commitSoon();
}

Status Commits::tried(Status status) {
  if (isRefusal(status)) return status;
  wrote(std::move(status));
  return {};
}

void Commits::whenDurable(Done done) {
  waiting_.push_back(std::move(done));
  commitSoon();
}

// After what has arrived while the last commit was under way.
void Commits::commitSoon() {
  if (std::exchange(is_posted_, true)) return;
  loop_.post(while_there_([this] { commit(); }));
}

void Commits::commit() {
  is_posted_ = false;
  Status problem = std::exchange(problem_, {});
  const bool has_writes = store_.hasUncommitted();
  const Clock::time_point begun = loop_.now();
  Status done = has_writes ? store_.commit() : Status();
  if (has_writes) meters_.seconds.add(std::chrono::duration<double>(loop_.now() - begun).count());
  if (problem.ok()) problem = std::move(done);
  if (!problem.ok()) ++meters_.failed;
  if (has_writes || !problem.ok()) last_ = problem;
  for (const Done& each : std::exchange(waiting_, {})) each(problem);
  if (!problem.ok()) failed_(problem);
}

}  // namespace pop::popdistd
