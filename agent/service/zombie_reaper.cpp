// SPDX-License-Identifier: Apache-2.0
#include "agent/service/zombie_reaper.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "agent/keeper/descendants.h"
#include "common/os/helper_program.h"

namespace pop::agent {
namespace {

// Most processes end within milliseconds; the others may last as long as their tracers.
constexpr std::chrono::milliseconds kFirstDelay{1};
constexpr std::chrono::milliseconds kLastDelay{5000};
constexpr std::chrono::milliseconds kLastDelayOfJobs{80};

// A keeper that works needs milliseconds, and removes the job's directory, too.
constexpr std::chrono::milliseconds kForKeeper{800};

// Reaps orphans. False: some are alive.
bool orphansHaveEnded(const std::set<pid_t>& older, bool kills) {
  bool have_ended = true;
  for (const pid_t child : keeper::ownChildren()) {
    if (older.contains(child) || os::HelperProgram::hasStarted(child)) continue;
    if (kills) ::kill(child, SIGKILL);  // its own come to us then
    have_ended &= ::waitpid(child, nullptr, WNOHANG) != 0;
  }
  return have_ended;
}

}  // namespace

ZombieReaper::~ZombieReaper() {
  std::erase_if(pids_, os::HelperProgram::reap);
  if (timer_) loop_.cancel(*timer_);
  for (const Leaving& each : leaving_) {
    if (each.cgroup.empty() || removeCgroup(each.cgroup)) continue;
    killCgroup(each.cgroup);
    static_cast<void>(removeCgroup(each.cgroup));
  }
}

// A pid stays in use until its process is reaped.
void ZombieReaper::add(pid_t pid) {
  pids_.push_back(pid);
  lookLater(kFirstDelay);
}

void ZombieReaper::clear(std::string cgroup, pid_t process, std::function<void()> empty) {
  leaving_.push_back({std::move(cgroup), process, loop_.now() + kForKeeper, std::move(empty)});
  lookLater(std::chrono::milliseconds(0));
}

bool ZombieReaper::isEmpty(const Leaving& leaving) const {
  const bool is_late = loop_.now() >= leaving.kill_at;
  const bool no_orphans = !holds_.older || orphansHaveEnded(*holds_.older, is_late && leaving.cgroup.empty());
  // Orphans of a process become children of this one only when it has ended; before, none may be here yet.
  if (leaving.cgroup.empty()) return no_orphans && (!holds_.older || !isAwaited(leaving.process));
  if (removeCgroup(leaving.cgroup)) return true;
  if (is_late) killCgroup(leaving.cgroup);
  return false;
}

bool ZombieReaper::isAwaited(pid_t process) const {
  return std::find(pids_.begin(), pids_.end(), process) != pids_.end();
}

void ZombieReaper::look() {
  std::erase_if(pids_, os::HelperProgram::reap);
  const auto gone = std::stable_partition(leaving_.begin(), leaving_.end(),
                                          [this](const Leaving& each) { return !isEmpty(each); });
  const std::vector<Leaving> empty(std::make_move_iterator(gone), std::make_move_iterator(leaving_.end()));
  leaving_.erase(gone, leaving_.end());
  if (!pids_.empty() || !leaving_.empty()) {
    const std::chrono::milliseconds last = leaving_.empty() ? kLastDelay : kLastDelayOfJobs;
    lookLater(std::clamp(delay_ * 2, kFirstDelay, last));
  }
  for (const Leaving& each : empty) {
    if (each.empty) each.empty();
  }
}

void ZombieReaper::lookLater(std::chrono::milliseconds delay) {
  if (timer_) loop_.cancel(*timer_);
  delay_ = delay;
  timer_ = loop_.postAfter(delay, [this] {
    timer_.reset();
    look();
  });
}

}  // namespace pop::agent
