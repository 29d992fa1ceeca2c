// SPDX-License-Identifier: Apache-2.0
// What must hold in every simulated life.
#include <algorithm>
#include <utility>

#include "tests/sim/sim_world.h"

namespace pop::sim {
namespace {

constexpr milliseconds kSilence{5000};
constexpr milliseconds kSlack{1500};        // delays of links and of simulated kernels
constexpr milliseconds kKillTimeout{5000};  // for what SIGKILL does not end at once

}  // namespace

void World::broken(const std::string& rule) {
  broken_.push_back(std::to_string(virtualTime().count()) + " ms: " + rule);
}

void World::restarting(const JobOutcome& failed) {
  checkAttempt(failed);
  record_ = {};
  decided_at_.reset();
  fences_entered_.clear();
  fences_released_.clear();
  fences_checked_ = 0;
  output_.clear();
  for (Host& host : hosts_) host.spy->forget();
}

void World::done(const JobOutcome& outcome) {
  if (++outcomes_ > 1) return broken("a second outcome");
  checkAttempt(outcome);
  outcome_ = outcome;
}

// An attempt is over: everything has been said of it.
void World::checkAttempt(const JobOutcome& outcome) {
  std::set<int> lost;
  for (const int host : record_.lost_hosts) {
    lost.insert(hosts_[static_cast<std::size_t>(host)].spy->instances().begin(),
                hosts_[static_cast<std::size_t>(host)].spy->instances().end());
  }
  for (const auto& [instance, told] : record_.instances) {
    const std::string who = "instance " + std::to_string(instance);
    if (lost.contains(instance)) continue;
    if (told.ended != 1 || told.closed != 1) broken(who + " has not been reported ended and closed");
    const auto [written, received] = output_[instance];
    if (written != received) {
      broken(who + " wrote " + std::to_string(written) + " bytes, and " + std::to_string(received) +
             " were shown");
    }
  }
  checkFailure(outcome);
  if (!decided_at_ || paused_) return;
  const milliseconds grace = scenario_.spec.kill_grace;
  const auto took = std::chrono::duration_cast<milliseconds>(clock_.now() - *decided_at_);
  if (took > grace + kSilence + kKillTimeout + kSlack)
    broken("it took " + std::to_string(took.count()) + " ms to end");
}

// The user's signal, else the time limit, else the first failure that was reported.
void World::checkFailure(const JobOutcome& outcome) {
  if (user_signals_ > 0) {
    if (outcome.exit_code != 128 + 2) broken("Ctrl-C gave " + std::to_string(outcome.exit_code));
    return;
  }
  if (outcome.timed_out != record_.decided_before)
    broken("the time limit came first, or did not, and is not told");
  if (outcome.timed_out) {
    if (outcome.exit_code != contract::kExitTimeout) broken("its time was over, and another code won");
    return;
  }
  if (!record_.first_failing_instance) {
    // Only hosts that could not be described fail a job without a failure of an instance.
    const int expected = record_.lost_hosts.empty() || !outcome.failure ? 0 : contract::kExitLauncherFailed;
    if (outcome.exit_code != expected)
      broken("without a failure the code is " + std::to_string(outcome.exit_code));
    return;
  }
  const int instance = *record_.first_failing_instance;
  if (!outcome.failure || outcome.failure->instance != instance ||
      outcome.exit_code != *record_.first_exit_code)
    broken("the first failure, of instance " + std::to_string(instance) + ", did not win");
  if (instance < 0) return;
  for (const Host& host : hosts_) {
    const std::vector<int>& own = host.spy->instances();
    if (std::find(own.begin(), own.end(), instance) != own.end() && host.machine->killedByAgent(instance) &&
        outcome.failure && !outcome.failure->reason.starts_with("asked to end the job"))
      broken("instance " + std::to_string(instance) + " wins, which we killed");
  }
}

void World::checkFence(int host) {
  const int round = ++fences_released_[host];
  if (controller_died_ || outcome_ || round <= fences_checked_) return;
  fences_checked_ = round;
  for (const auto& [instance, told] : record_.instances) {
    if (fences_entered_[instance] < round)
      broken("fence " + std::to_string(round) + " opens without instance " + std::to_string(instance));
  }
}

// If the host still cannot be heard after a silence, the controller has noticed; if it cannot hear, it has.
void World::checkCut(Host& host, int index) {
  const bool deaf = host.link->down.isCut();
  const bool mute = host.link->up.isCut();
  clock_.postAfter(kSilence + kSlack, [this, &host, index, deaf, mute] {
    if (mute && host.link->up.isCut()) checkNoticed(host, index);
    // A host that was frozen meanwhile counts from when it went on.
    if (controller_died_) return;  // which has cut it once more
    if (deaf && host.link->down.isCut() && !host.machine->process().everFrozen() && !paused_ &&
        host.machine->alive() > 0)
      broken("host " + std::to_string(index) + " is cut off, and its instances go on");
  });
}

void World::checkFrozen(Host& host, int index) {
  clock_.postAfter(kSilence + kSlack, [this, &host, index] {
    // What a cut has held back may be heard from a host that has been frozen since.
    if (host.machine->process().frozen() && !host.link->up.everCut()) checkNoticed(host, index);
  });
}

void World::checkNoticed(const Host& host, int index) {
  if (host.reached && !outcome_ && !controller_died_ && !paused_ && !host.remote->lost())
    broken("host " + std::to_string(index) + " is silent, and nobody has noticed");
}

void World::checkEnd() {
  if (outcomes_ == 0 && !controller_died_) broken("there is no outcome");
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    const SimHost& machine = *hosts_[index].machine;
    // That the launcher has gone on after Ctrl-Z, or is no more, only the kernel can tell: in minutes.
    if (paused_ && hosts_[index].link->down.isCut()) continue;
    if (machine.alive() > 0)
      broken("host " + std::to_string(index) + " is left with " + std::to_string(machine.alive()) +
             " instances");
  }
}

}  // namespace pop::sim
