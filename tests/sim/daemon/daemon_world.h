// SPDX-License-Identifier: Apache-2.0
// A simulated daemon: its real core, queue, leases and store, on virtual time, with clients, hosts and
// runners that are made up, and everything that may go wrong, all of it decided by a seed. Between any two
// steps, orders and reports are under way, and turns are not committed.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "tests/sim/daemon/job_ledger.h"
#include "tests/sim/daemon/sim_store.h"
#include "tests/unit/popdistd/jobs/cluster_fixture.h"

namespace pop::popdistd::testing {

class DaemonWorld : private Cluster {
 public:
  explicit DaemonWorld(std::uint64_t seed);

  /// All of it. The rules that were broken; empty: none.
  const std::vector<std::string>& live();
  /// The steps until then, one a line.
  const std::string& trace() const { return trace_; }
  /// Jobs that have ended, by how.
  const std::map<std::string, int>& ends() const { return ends_; }
  int lives() const { return static_cast<int>(jobs_.size()); }

 private:
  /// A job as clients were told of it.
  struct Known {
    v1::SubmitRequest request;
    bool is_over = false;
    bool is_forgotten = false;  ///< or will be: nobody asks for it any more
  };

  // ---- daemon_world.cpp: clients, time, and the daemon's own deaths

  void act();
  void clientActs();
  void submitOne();
  void submitAgain();
  void send(const v1::SubmitRequest& request);
  void cancelOne();
  void holdOne();
  void forgetOne();
  void timePasses();
  void pass(seconds all);
  void daemonFails();
  void kill();
  void startAgain();
  void settleAll();
  std::int64_t anyJob();

  // ---- daemon_hosts.cpp: hosts, and runners on them

  void hostActs();
  void joins(FakeHost& host);
  void leaves(const std::string& name, FakeHost& host);
  void reboots(const std::string& name, FakeHost& host);
  void drains(const std::string& name);
  void resumes(const std::string& name);
  void catchesUp(const std::string& name, FakeHost& host);
  void runnerActs();
  void finish(FakeHost& host, const RunnerId& id, int code);
  void killRunner(FakeHost& host, const RunnerId& id);
  void agentsBegin();
  void windDown();
  void healAll();

  // ---- daemon_checks.cpp

  std::vector<v1::JobInfo> list();
  void checkNow();
  void checkReason(const v1::JobInfo& job);
  void checkSlots(const std::vector<v1::JobInfo>& jobs);
  void checkAttempts();
  void checkSettled();
  void checkEnd();
  void checkOutcome(const v1::JobInfo& job);
  void checkEvents(const v1::JobInfo& job);
  void checkPartitions();
  void broken(const std::string& rule);

  void note(const std::string& step);
  int roll(int below) { return static_cast<int>(random_.below(static_cast<std::uint64_t>(below))); }
  bool oneIn(int sides) { return roll(sides) == 0; }
  template <typename T>
  static Reply<T> nobody() {
    return [](const Result<T>&) {};
  }

  static constexpr int kHosts = 3;
  static constexpr int kSteps = 160;
  static constexpr int kMostInstances = 6;
  static constexpr milliseconds kLostAfter{20000};

  SplitMix64 random_;
  const bool is_calm_;  ///< nothing is lost but what clients cancel
  JobLedger ledger_{[this](const std::string& rule) { broken(rule); }};
  SimStore* disk_ = nullptr;
  std::map<std::int64_t, Known> jobs_;  ///< that were acknowledged
  int requests_ = 0;
  std::map<std::string, int> slots_;  ///< by host
  std::map<RunnerId, int> codes_;     ///< of programs that have ended
  std::set<RunnerId> told_;           ///< have left an event: without one, nothing has run
  std::set<RunnerId> late_;           ///< began after their host had come back
  std::set<std::string> wiped_;       ///< hosts that have lost their disks
  std::map<std::pair<std::string, RunnerId>, bool> has_begun_;  ///< its agents on other hosts
  std::map<std::string, int> ends_;
  std::string trace_;
  std::vector<std::string> broken_;
};

}  // namespace pop::popdistd::testing
