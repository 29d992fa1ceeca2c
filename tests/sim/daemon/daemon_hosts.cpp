// SPDX-License-Identifier: Apache-2.0
// Hosts, and the runners on them.
#include <algorithm>
#include <iterator>
#include <utility>

#include "tests/sim/daemon/daemon_world.h"

namespace pop::popdistd::testing {
namespace {

constexpr int kMostRounds = 120;
constexpr seconds kAfterAll{40};  // partitions are configured, and hosts are silent for long enough

}  // namespace

// ---- hosts

void DaemonWorld::hostActs() {
  auto& [name, host] = *std::next(hosts_.begin(), roll(kHosts));
  switch (is_calm_ ? roll(5) : roll(12)) {
    case 0:
    case 1:
      if (!host.isJoined()) joins(host);
      return;
    case 2:
    case 3:
      note(name + " takes orders");
      host.pump(static_cast<std::size_t>(1 + roll(3)));
      return;
    case 4:
      return oneIn(2) ? drains(name) : resumes(name);
    case 5:
      return leaves(name, host);
    case 6:
    case 7:
      return joins(host);  // also before the daemon has heard that it has left
    case 8:
      host.is_slow = true;
      host.starts_late = oneIn(2);
      note(name + (host.starts_late ? " is slow, and starts late" : " is slow"));
      return;
    case 9:
      return catchesUp(name, host);
    case 10:
      host.refuses = oneIn(2) ? unavailable("its disk is full") : Status();
      note(name + (host.refuses.ok() ? " starts runners" : " refuses to start runners"));
      return;
    default:
      if (oneIn(2)) reboots(name, host);
  }
}

void DaemonWorld::joins(FakeHost& host) {
  const Status joined = host.join(*core_);
  note(host.joins().name() + " joins" + (joined.ok() ? "" : ": " + joined.message()));
  if (!joined.ok()) host.loseConnection(false);
}

void DaemonWorld::leaves(const std::string& name, FakeHost& host) {
  const bool is_told = oneIn(2);
  note(name + " loses its connection" + (is_told ? "" : ", and the daemon does not hear of it"));
  host.loseConnection(is_told);
}

// Its runners are gone, their records are there, unless its disk is lost with them.
void DaemonWorld::reboots(const std::string& name, FakeHost& host) {
  const bool is_wiped = oneIn(3);
  note(name + (is_wiped ? " is set up anew" : " reboots"));
  host.loseConnection(oneIn(2));
  host.boot_id += '+';
  host.agents_of.clear();
  host.dropUndone();
  for (auto& [id, runner] : host.runners) runner.alive = false;
  if (!is_wiped) return;
  wiped_.insert(name);
  host.runners.clear();
}

void DaemonWorld::drains(const std::string& name) {
  note(name + " is drained");
  v1::DrainRequest request;
  request.mutable_host()->set_name(name);
  request.set_reason("disk");
  core_->drain(callerOf("root"), request, nobody<v1::HostInfo>());
}

void DaemonWorld::resumes(const std::string& name) {
  note(name + " is resumed");
  v1::HostRef request;
  request.set_name(name);
  core_->resume(callerOf("root"), request, nobody<v1::HostInfo>());
}

void DaemonWorld::catchesUp(const std::string& name, FakeHost& host) {
  note(name + " catches up");
  std::set<RunnerId> before;
  for (const auto& [id, starts] : host.starts) before.insert(id);
  host.catchUp();
  for (const auto& [id, starts] : host.starts) {
    if (!before.contains(id)) late_.insert(id);
  }
}

// ---- runners

void DaemonWorld::runnerActs() {
  auto& [name, host] = *std::next(hosts_.begin(), roll(kHosts));
  if (host.runners.empty()) return;
  const auto at = std::next(host.runners.begin(), roll(static_cast<int>(host.runners.size())));
  const RunnerId id = at->first;
  FakeRunner& runner = at->second;
  if (!runner.alive || runner.job_over) return;
  if (!runner.stops.empty()) return finish(host, id, 143);
  switch (roll(is_calm_ ? 4 : 5)) {
    case 0:
    case 1:
      return finish(host, id, roll(3));
    case 2: {
      v1::JobEvent event;
      event.mutable_log()->set_text(std::to_string(runner.records.size()));
      told_.insert(id);
      return host.event(id, event);
    }
    case 3:
      return host.emit(id, kOutputRecord, "");
    default:
      return killRunner(host, id);
  }
}

void DaemonWorld::finish(FakeHost& host, const RunnerId& id, int code) {
  note("the program of job " + std::to_string(id.first) + " in attempt " + std::to_string(id.second) +
       " ends with " + std::to_string(code));
  codes_[id] = code;
  told_.insert(id);
  const std::string agents = host.runners.at(id).start.agent_job_id();
  host.finish(id, code);
  for (auto& [name, other] : hosts_) other.agents_of.erase(agents);
}

// Its agents on other hosts go on for a while.
void DaemonWorld::killRunner(FakeHost& host, const RunnerId& id) {
  note("the runner of job " + std::to_string(id.first) + " in attempt " + std::to_string(id.second) +
       " is killed");
  host.killRunner(id);
}

// A runner that has just begun has agents on its other hosts; of one that is gone they go, too.
void DaemonWorld::agentsBegin() {
  for (auto& [name, host] : hosts_) {
    for (const auto& [id, runner] : host.runners) {
      const std::string& agents = runner.start.agent_job_id();
      const bool runs = runner.alive && !runner.job_over;
      if (runs && !std::exchange(has_begun_[{name, id}], true)) {
        v1::JobSpec spec;
        EXPECT_TRUE(spec.ParseFromString(runner.start.spec()));
        for (int i = 1; i < spec.hosts_size(); ++i) hosts_.at(spec.hosts(i).name()).agents_of.insert(agents);
      }
      if (runs || !oneIn(4)) continue;
      for (auto& [other_name, other] : hosts_) other.agents_of.erase(agents);
    }
  }
}

// ---- the end: all hosts are well, and time passes

void DaemonWorld::windDown() {
  note("all is well again");
  for (int round = 0; round < kMostRounds; ++round) {
    healAll();
    settleAll();
    checkNow();
    for (auto& [name, host] : hosts_) {
      for (const auto& [id, runner] : host.runners) {
        if (runner.alive && !runner.job_over) finish(host, id, runner.stops.empty() ? 0 : 143);
      }
    }
    const std::vector<v1::JobInfo> jobs = list();
    const bool is_done = std::none_of(jobs.begin(), jobs.end(), [](const v1::JobInfo& job) {
      return job.state() != v1::JOB_ENDED && job.state() != v1::JOB_HELD;
    });
    if (is_done || !broken_.empty()) break;
    timePasses();
  }
  for (const v1::JobInfo& job : list()) {
    if (job.state() == v1::JOB_HELD) cancel(job.id());
  }
  for (int round = 0; round < 2; ++round) {  // a commit that fails closes streams once more
    healAll();
    pass(kAfterAll);
    settleAll();
  }
}

void DaemonWorld::healAll() {
  for (auto& [name, host] : hosts_) {
    if (host.is_slow) catchesUp(name, host);
    host.refuses = {};
    if (!host.isJoined()) joins(host);
    if (host.isJoined()) resumes(name);
    if (oneIn(2)) host.agents_of.clear();
  }
}

}  // namespace pop::popdistd::testing
