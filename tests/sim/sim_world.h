// SPDX-License-Identifier: Apache-2.0
// One simulated job life: the real job, remote agents, agent sessions and agent cores over links and hosts
// that are made up, and everything that may go wrong, all of it decided by a seed. What must hold always is
// checked on the way and at the end.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/core/job.h"
#include "controller/hosts/remote_agent.h"
#include "controller/hosts/shared_output.h"
#include "tests/sim/sim_host.h"
#include "tests/sim/sim_spy.h"

namespace pop::sim {

/// What one life is like.
struct Scenario {
  model::JobSpec spec;
  Manners manners;
  LinkWeather weather;
  double unreachable = 0;      ///< of hosts that cannot be reached at all
  double cut = 0;              ///< of hosts: one or both directions of the link, healed or not
  double crash = 0;            ///< of hosts: the agent is killed
  double freeze = 0;           ///< of hosts: it stops answering without closing, perhaps for a while
  double reset = 0;            ///< of links
  double controller_dies = 0;  ///< killed, or cut off from all
  double user_stops = 0;       ///< Ctrl-C, once or twice
  double user_pauses = 0;      ///< Ctrl-Z, and fg
  double slow_screen = 0;      ///< of pieces of output
  int faults_within_ms = 6000;

  static Scenario random(std::uint64_t seed);
};

class World final : private OutputSink {
 public:
  World(std::uint64_t seed, Scenario scenario);
  ~World() override;

  /// The whole life. What has been broken of the rules; empty: nothing.
  const std::vector<std::string>& live();

  /// Prints every event of the job, and every fault.
  void tellEverything() { telling_ = true; }

  // What it was like, for those who count.
  const std::optional<JobOutcome>& outcome() const { return outcome_; }
  bool controllerDied() const { return controller_died_; }
  milliseconds virtualTime() const;
  std::uint64_t eventsLogged() const { return events_logged_; }
  std::uint64_t commandsSent() const;
  std::uint64_t reportsSent() const;
  std::chrono::nanoseconds controllerTime() const { return controller_.busy(); }  ///< real, not simulated

 private:
  struct Host {
    std::unique_ptr<SimLink> link;
    std::unique_ptr<RemoteAgent> remote;
    std::unique_ptr<SimHost> machine;
    std::unique_ptr<SpyAgent> spy;
    bool reached = false;
  };

  void build();
  void buildHost(int index);
  void reach(Host& host);
  void planFaults();
  void planFault(Host& host, int index);
  void cutOff(Host& host);
  void killController();
  void userStops();
  void userPauses();

  bool write(int instance, Stream stream, std::string_view text) override;
  void setOnReady(std::function<void()> on_ready) override { on_ready_ = std::move(on_ready); }

  void noteEvent(const LogEntry& entry);
  void restarting(const JobOutcome& failed);
  void done(const JobOutcome& outcome);
  void checkAttempt(const JobOutcome& outcome);
  void checkFailure(const JobOutcome& outcome);
  void checkFence(int host);
  void checkOutput();
  void checkCut(Host& host, int index);
  void checkFrozen(Host& host, int index);
  void checkNoticed(const Host& host, int index);
  void checkEnd();
  void broken(const std::string& rule);

  void tell(const std::string& what) const;

  bool chance(double probability) { return probability > 0 && random_.unit() < probability; }
  milliseconds within(int most_ms) {
    return milliseconds(random_.below(static_cast<std::uint64_t>(most_ms) + 1));
  }

  const Scenario scenario_;
  SplitMix64 random_;
  testing::FakeLoop clock_;
  const Clock::time_point begin_ = clock_.now();
  SimProcess controller_{clock_};
  std::function<void()> on_ready_;
  SharedOutput shared_output_{*this};
  std::vector<Host> hosts_;
  AttemptRecord record_;
  std::unique_ptr<Job> job_;
  std::optional<JobOutcome> outcome_;
  int outcomes_ = 0;
  bool telling_ = false;
  bool controller_died_ = false;
  bool paused_ = false;  ///< by Ctrl-Z, at some time
  int user_signals_ = 0;
  std::optional<Clock::time_point> decided_at_;  ///< of this attempt: from then on it is ending
  std::uint64_t events_logged_ = 0;

  std::map<int, int> fences_entered_;                            ///< by instance, in this attempt
  int fences_checked_ = 0;                                       ///< the last one, in this attempt
  std::map<int, int> fences_released_;                           ///< by host, in this attempt
  std::map<int, std::pair<std::int64_t, std::int64_t>> output_;  ///< by instance: bytes written, received
  std::map<int, std::pair<int, int>> next_piece_;                ///< by instance: run, number
  std::vector<std::string> broken_;
};

}  // namespace pop::sim
