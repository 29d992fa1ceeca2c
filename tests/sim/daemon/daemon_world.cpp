// SPDX-License-Identifier: Apache-2.0
// Clients, time, and the daemon's own deaths.
#include "tests/sim/daemon/daemon_world.h"

#include <algorithm>
#include <utility>

namespace pop::popdistd::testing {
namespace {

constexpr std::size_t kMostAsked = 10;  // jobs that clients go on with

}  // namespace

DaemonWorld::DaemonWorld(std::uint64_t seed) : random_(seed), is_calm_(seed % 8 == 0) {
  if (oneIn(3)) pod_settings_.configure_delay = seconds(2);
  startAgain();
  EXPECT_TRUE(core_->pods().addDefaultInventory("h0").ok());
  settle();
  for (int i = 0; i < kHosts; ++i) {
    const std::string name = "h" + std::to_string(i);
    slots_[name] = 2 + 2 * roll(3);
    hosts_.try_emplace(name, name, slots_[name]);
  }
}

const std::vector<std::string>& DaemonWorld::live() {
  for (int step = 0; step < kSteps && broken_.empty(); ++step) {
    act();
    agentsBegin();
    checkNow();
  }
  if (broken_.empty()) windDown();
  if (broken_.empty()) checkEnd();
  return broken_;
}

void DaemonWorld::note(const std::string& step) {
  trace_ += std::to_string(loop_->now().time_since_epoch() / milliseconds(1)) + " ms  " + step + '\n';
}

void DaemonWorld::act() {
  switch (roll(10)) {
    case 0:
    case 1:
    case 2:
      return clientActs();
    case 3:
    case 4:
      return hostActs();
    case 5:
    case 6:
      return runnerActs();
    case 7:
      return timePasses();
    case 8:
      return settleAll();
    default:
      return oneIn(4) ? daemonFails() : loop_->runPosted();
  }
}

// ---- clients

void DaemonWorld::clientActs() {
  switch (roll(8)) {
    case 0:
      return cancelOne();
    case 1:
      return oneIn(3) ? forgetOne() : submitAgain();
    case 2:
    case 3:
      return holdOne();
    default:
      return submitOne();
  }
}

void DaemonWorld::submitOne() {
  const bool has_hosts = oneIn(4);
  v1::SubmitRequest request = requestOf(has_hosts ? 2 + 2 * roll(2) : 1 + roll(kMostInstances));
  if (has_hosts) request.set_num_hosts(2);
  request.set_held(oneIn(5));
  request.set_no_wait(oneIn(10));
  request.set_lost_after_ms(oneIn(2) ? kLostAfter.count() : 0);
  request.set_request_id("r" + std::to_string(++requests_));
  if (!has_hosts && oneIn(3)) {
    request.mutable_spec()->set_ipus_per_replica(8);
    v1::PartitionRequest& partition = *request.mutable_spec()->mutable_partition();
    partition.set_name("p" + std::to_string(roll(3)));
    partition.set_remove(true);
    partition.set_update(oneIn(2));
  }
  note("submit " + request.request_id() + " of " +
       std::to_string(request.spec().programs(0).num_instances()) + " instances" +
       (has_hosts ? " on 2 hosts" : "") + (request.held() ? ", held" : "") +
       (request.spec().has_partition() ? " with " + request.spec().partition().name() : ""));
  send(request);
}

// As a client does that has not heard of the reply.
void DaemonWorld::submitAgain() {
  const auto known = jobs_.find(anyJob());
  if (known == jobs_.end()) return;
  note("submit " + known->second.request.request_id() + " again");
  send(known->second.request);
}

void DaemonWorld::send(const v1::SubmitRequest& request) {
  core_->submit(callerOf("alice"), request, [this, request](const Result<v1::SubmitReply>& reply) {
    if (!reply.ok()) return;
    const std::int64_t id = reply.value().job().id();
    note(request.request_id() + " is job " + std::to_string(id));
    if (const auto [known, is_new] = jobs_.try_emplace(id, Known{.request = request}); !is_new) {
      if (known->second.request.request_id() != request.request_id())
        broken("job " + std::to_string(id) + " is that of two requests");
      return;
    }
    for (const auto& [other, known] : jobs_) {
      if (other != id && !known.is_forgotten && known.request.request_id() == request.request_id())
        broken("request " + request.request_id() + " has jobs " + std::to_string(other) + " and " +
               std::to_string(id));
    }
  });
}

// One of the last; 0: there is none.
std::int64_t DaemonWorld::anyJob() {
  std::vector<std::int64_t> last;
  for (auto each = jobs_.rbegin(); each != jobs_.rend() && last.size() < kMostAsked; ++each) {
    if (!each->second.is_forgotten) last.push_back(each->first);
  }
  return last.empty() ? 0 : last[static_cast<std::size_t>(roll(static_cast<int>(last.size())))];
}

void DaemonWorld::cancelOne() {
  const std::int64_t id = anyJob();
  note("cancel job " + std::to_string(id));
  v1::CancelRequest request;
  *request.mutable_job() = ref(id);
  core_->cancel(callerOf("alice"), request, [this, id](const Result<v1::JobInfo>& reply) {
    if (reply.ok() && reply.value().state() == v1::JOB_ENDED) jobs_.at(id).is_over = true;
  });
}

// The other one may come before the first is answered.
void DaemonWorld::holdOne() {
  const std::int64_t id = anyJob();
  const bool first = oneIn(2);
  for (const bool hold : {first, !first}) {
    note((hold ? "hold job " : "release job ") + std::to_string(id));
    hold ? core_->hold(callerOf("alice"), ref(id), nobody<v1::JobInfo>())
         : core_->release(callerOf("alice"), ref(id), nobody<v1::JobInfo>());
    if (oneIn(2)) return;
  }
}

void DaemonWorld::forgetOne() {
  const std::int64_t id = anyJob();
  if (id == 0) return;
  v1::JobInfo info = job(id);
  if (info.state() != v1::JOB_ENDED) return;
  note("forget job " + std::to_string(id));
  jobs_.at(id).is_forgotten = true;
  core_->forget(callerOf("alice"), ref(id), nobody<v1::Nothing>());
}

// ---- time

void DaemonWorld::timePasses() {
  constexpr int kSeconds[] = {1, 1, 2, 3, 11, 25, 70};
  pass(seconds(kSeconds[roll(std::size(kSeconds))]));
}

// With heartbeats.
void DaemonWorld::pass(seconds all) {
  constexpr seconds kStep{5};
  note(std::to_string(all.count()) + " s pass");
  for (seconds left = all; left > seconds(0); left -= kStep) {
    loop_->advance(std::min(kStep, left));
    for (auto& [name, host] : hosts_) host.heartbeat();
    loop_->runPosted();
  }
}

void DaemonWorld::settleAll() {
  note("all settles");
  for (int round = 0; round < 3; ++round) {
    settle();
    agentsBegin();
  }
  checkSettled();
}

// ---- the daemon

void DaemonWorld::startAgain() {
  auto store = std::make_unique<SimStore>(directory_.path() + "/state", ledger_);
  disk_ = store.get();
  startDaemon(std::move(store));
}

void DaemonWorld::daemonFails() {
  if (is_calm_) return;
  if (oneIn(2)) return kill();
  note("the next commit fails");
  disk_->failNextCommit();
}

// Its loop may go on for a while, as that of a process whose core goes first.
void DaemonWorld::kill() {
  note("the daemon is killed");
  if (oneIn(2)) {
    core_ = nullptr;
    for (auto& [name, host] : hosts_) host.loseConnection(false);
    loop_->runPosted();
    loop_->advance(seconds(11));
  }
  killDaemon();
  ledger_.undone();
  startAgain();
}

}  // namespace pop::popdistd::testing
