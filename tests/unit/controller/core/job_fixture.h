// SPDX-License-Identifier: Apache-2.0
// A job with fake agents. Instances are named by their index; which host they are on follows from the job.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/contract/exit_code.h"
#include "controller/core/job.h"
#include "tests/testing/fake_agent.h"
#include "tests/testing/fake_loop.h"

namespace pop {

class JobFixture {
 public:
  JobFixture(int num_hosts, int num_instances) : JobFixture(specFor(num_hosts, num_instances)) {}

  explicit JobFixture(const model::JobSpec& spec) : placement_(model::place(spec)) {
    std::vector<Agent*> agents;
    for (std::size_t host = 0; host < spec.hosts.size(); ++host) {
      const std::string number = std::to_string(host + 1);
      agents_.push_back(
          std::make_unique<testing::FakeAgent>("10.0.0." + number, 10000 + 1000 * static_cast<int>(host)));
      agents.push_back(agents_.back().get());
    }
    const auto listener = [this](const LogEntry& entry) {
      entries_.push_back(entry);
      log_.push_back((entry.instance < 0 ? "job" : std::to_string(entry.instance)) + ": " + entry.text);
    };
    const auto restarting = [this](const JobOutcome& failed, int restart) {
      failed_.push_back(failed);
      EXPECT_EQ(static_cast<int>(failed_.size()), restart);
    };
    const auto done = [this](const JobOutcome& outcome) {
      ++reports_;
      outcome_ = outcome;
    };
    const auto correct = [this](const std::vector<model::Host>&, std::vector<std::string>& all) {
      if (knows_better) knows_better(all);
    };
    const auto placed = [this](const std::vector<PlacedInstance>& instances) {
      placed_ = instances;
      runs_when_placed_ = agent(0).runs;
    };
    job_ = std::make_unique<Job>(
        loop_, JobIdentity{"4f2a", "the job\'s own key", correct}, spec, agents,
        JobWatch{.event = listener,
                 .placed = placed,
                 .restarting = restarting,
                 .reported = [this](const std::vector<JobValue>& values) { values_.push_back(values); },
                 .done = done});
  }

  static model::JobSpec specFor(int num_hosts, int num_instances) {
    model::JobSpec spec{.hosts = {},
                        .programs = {{.command = {"./train"}, .num_instances = num_instances}},
                        .num_instances = num_instances,
                        .num_replicas = num_instances};
    for (int host = 0; host < num_hosts; ++host) spec.hosts.push_back({"node" + std::to_string(host + 1)});
    return spec;
  }

  Job& job() { return *job_; }
  testing::FakeLoop& loop() { return loop_; }
  testing::FakeAgent& agent(int host) { return *agents_.at(static_cast<std::size_t>(host)); }
  int hosts() const { return static_cast<int>(agents_.size()); }
  int instances() const { return static_cast<int>(placement_.size()); }

  // Reports of the instance's agent.
  void started(int instance) { eventsOf(instance).onStarted(instance, pidOf(instance)); }
  void ended(int instance, const contract::ExitStatus& status) {
    eventsOf(instance).onEnded(instance, {status, {}});
  }
  /// It was told before of a failure of `cause`.
  void endedAsTold(int instance, const contract::ExitStatus& status, int cause) {
    eventsOf(instance).onEnded(instance, {status, {}, cause});
  }
  void closed(int instance) { eventsOf(instance).onClosed(instance); }
  void aborted(int instance, int exit_code, const std::string& message) {
    eventsOf(instance).onAborted(instance, exit_code, message);
  }
  void reported(int instance, const std::string& name, contract::Fold fold, double value) {
    eventsOf(instance).onReported({{instance, name, fold, value}});
  }
  void cannotStart(int instance, int exit_code, const std::string& why) {
    eventsOf(instance).onEnded(instance, {{.code = exit_code}, "could not be started: " + why});
  }

  void lose(int host, const std::string& why) { agent(host).events->onLost(unavailable(why)); }

  // The same, one after another.
  void startAll() {
    job_->start();
    for (int instance = 0; instance < instances(); ++instance) started(instance);
  }
  void endAndClose(int instance, const contract::ExitStatus& status) {
    ended(instance, status);
    closed(instance);
  }

  static pid_t pidOf(int instance) { return 700 + instance; }

  bool done() const { return outcome_.has_value(); }
  const std::vector<JobOutcome>& failedAttempts() const { return failed_; }
  int reports() const { return reports_; }
  /// The values that were passed on each time instances reported.
  const std::vector<std::vector<JobValue>>& values() const { return values_; }
  const JobOutcome& outcome() const { return outcome_.value(); }
  const std::vector<LogEntry>& entries() const { return entries_; }
  const std::vector<std::string>& log() const { return log_; }  ///< the same in words
  /// The instances' places as the job told them, and whether its first agent ran by then.
  const std::vector<PlacedInstance>& placed() const { return placed_; }
  int runsWhenPlaced() const { return runs_when_placed_; }

  /// Before anything starts; none: the agents' addresses stay.
  std::function<void(std::vector<std::string>& addresses)> knows_better;

 private:
  AgentEvents& eventsOf(int instance) {
    return *agent(placement_.at(static_cast<std::size_t>(instance)).host).events;
  }

  testing::FakeLoop loop_;
  const std::vector<model::InstancePlacement> placement_;
  std::vector<std::unique_ptr<testing::FakeAgent>> agents_;
  std::vector<LogEntry> entries_;
  std::vector<std::string> log_;
  std::vector<JobOutcome> failed_;
  std::vector<PlacedInstance> placed_;
  std::vector<std::vector<JobValue>> values_;
  int runs_when_placed_ = -1;
  int reports_ = 0;
  std::optional<JobOutcome> outcome_;
  std::unique_ptr<Job> job_;
};

inline constexpr contract::ExitStatus kSuccess{};

}  // namespace pop
