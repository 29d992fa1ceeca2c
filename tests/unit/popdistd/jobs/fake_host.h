// SPDX-License-Identifier: Apache-2.0
// A joined host with its runners, as the daemon sees it: records that outlive runners and connections,
// orders that are carried out when the test pumps them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/contract/record_streams.h"
#include "common/contract/version.h"
#include "popdistd/api/host_gate.h"
#include "popdistd/jobs/follow/runner_links.h"

namespace pop::popdistd::testing {

inline constexpr int kEventRecord = 1;
inline constexpr int kOutputRecord = 2;

/// The daemon's orders, until the host takes them.
class FakeChannel final : public HostChannel {
 public:
  explicit FakeChannel(std::map<RunnerId, int>* given = nullptr) : given_(given) {}

  void send(v1::HostOrder order) override {
    if (given_ != nullptr && order.has_start()) ++(*given_)[idOf(order.start().key())];
    orders.push_back(std::move(order));
  }
  void close(Status why) override {
    closed = true;
    close_reason = std::move(why);
  }

  std::deque<v1::HostOrder> orders;
  bool closed = false;
  Status close_reason;

 private:
  std::map<RunnerId, int>* given_;
};

struct FakeRunner {
  v1::StartRunner start;
  std::vector<v1::StoredRecord> records;
  bool alive = true;
  bool job_over = false;  ///< there is an outcome
  bool feeder = false;
  bool retired = false;
  std::set<int> stops;  ///< numbers of those passed on
  std::vector<int> signals;
  std::map<std::int64_t, v1::Follow> streams;
};

class FakeHost {
 public:
  explicit FakeHost(std::string name, int slots = 4) : name_(std::move(name)), slots_(slots) {}

  Status join(HostGate& gate) {
    gate_ = &gate;
    unsaid_.clear();
    channel_ = std::make_shared<FakeChannel>(&given);
    for (auto& [id, runner] : runners) runner.feeder = false;
    return gate.joined(joins(), "10.0.0.1", channel_);
  }

  v1::HostJoins joins() const {
    v1::HostJoins joins;
    joins.set_name(name_);
    joins.set_protocol(contract::kHostProtocol);
    joins.set_version("0.1.0");
    joins.set_boot_id(boot_id);
    joins.set_slots(slots_);
    joins.set_num_cores(slots_);
    joins.set_agent_port(7571);
    joins.set_cluster_id(cluster_id);
    joins.set_epoch(epoch);
    for (const auto& [id, runner] : runners) {
      v1::HeldRunner& held = *joins.add_runners();
      *held.mutable_key() = keyOf(id);
      held.set_alive(runner.alive);
    }
    return joins;
  }

  /// The connection breaks. `told`: the daemon hears of it.
  void loseConnection(bool told = true) {
    if (told && isJoined()) gate_->left(*channel_, unavailable("reset"));
    channel_ = nullptr;
    unsaid_.clear();
  }
  bool isJoined() const { return channel_ != nullptr && !channel_->closed; }
  const FakeChannel* channel() const { return channel_.get(); }

  /// Carries out at most `most` orders; false: there was none.
  bool pump(std::size_t most = 1000000) {
    bool any = false;
    while (most-- > 0 && isJoined() && !channel_->orders.empty()) {
      const v1::HostOrder order = std::move(channel_->orders.front());
      channel_->orders.pop_front();
      obey(order);
      any = true;
    }
    return any;
  }

  void heartbeat() {
    v1::HostReport report;
    report.mutable_heartbeat();
    say(std::move(report));
  }

  /// Whatever it says, as it is.
  void says(const v1::HostReport& report) { say(report); }

  /// Does and reports now all that it has kept: reports only if its connection is still the same.
  void catchUp() {
    is_slow = starts_late = false;
    for (v1::HostReport& report : std::exchange(unsaid_, {})) say(std::move(report));
    for (const v1::StartRunner& order : std::exchange(undone_, {})) start(order);
  }
  void dropUndone() { undone_.clear(); }

  // ---- what runners do

  void emit(const RunnerId& id, int kind, const std::string& bytes) {
    FakeRunner& runner = runners.at(id);
    v1::StoredRecord& record = runner.records.emplace_back();
    record.set_sequence(runner.records.size());
    record.set_kind(kind);
    record.set_bytes(bytes);
    for (const auto& [stream, follow] : runner.streams) tell(id, follow, runner.records.size() - 1);
  }

  void event(const RunnerId& id, const v1::JobEvent& event) {
    emit(id, kEventRecord, event.SerializeAsString());
  }

  /// The values that its instances report, put together.
  void reports(const RunnerId& id, const std::vector<std::pair<std::string, double>>& values) {
    v1::RunnerReport report;
    report.mutable_values();
    for (const auto& [name, value] : values) {
      v1::JobValue& each = *report.mutable_values()->add_values();
      each.set_name(name);
      each.set_value(value);
      each.set_instances(1);
    }
    runnerSays(id, std::move(report));
  }

  void finish(const RunnerId& id, int exit_code) {
    FakeRunner& runner = runners.at(id);
    v1::JobEvent outcome;
    outcome.mutable_outcome()->set_exit_code(exit_code);
    runner.job_over = true;
    event(id, outcome);
    for (const auto& [stream, follow] : std::exchange(runner.streams, {})) endStream(id, stream);
  }

  /// kill -9 of the runner: its records stay.
  void killRunner(const RunnerId& id) {
    FakeRunner& runner = runners.at(id);
    runner.alive = false;
    runner.streams.clear();
    v1::HostReport report;
    *report.mutable_gone()->mutable_key() = keyOf(id);
    say(std::move(report));
  }

  std::map<RunnerId, FakeRunner> runners;
  /// Counts of each order to start, as given and as carried out: never more than
  /// once.
  std::map<RunnerId, int> given;
  std::map<RunnerId, int> starts;
  bool is_slow = false;             ///< keeps what it says for catchUp()
  bool starts_late = false;         ///< likewise orders to start
  std::set<std::string> agents_of;  ///< jobs whose agents run here, by the agents' id
  Status refuses;                   ///< not ok: to start runners and feeders
  std::string cluster_id;
  std::uint64_t epoch = 0;  ///< that it says it has seen
  std::string boot_id = "boot1";
  int removed = 0;

 private:
  void obey(const v1::HostOrder& order) {
    switch (order.body_case()) {
      case v1::HostOrder::kWelcome:
        cluster_id = order.welcome().cluster_id();
        break;
      case v1::HostOrder::kStart:
        starts_late ? undone_.push_back(order.start()) : start(order.start());
        break;
      case v1::HostOrder::kFeed:
        feed(idOf(order.feed()));
        break;
      case v1::HostOrder::kRemove:
        removed += static_cast<int>(runners.erase(idOf(order.remove())));
        break;
      case v1::HostOrder::kKill:
        if (runners.contains(idOf(order.kill()))) killRunner(idOf(order.kill()));
        break;
      case v1::HostOrder::kAsk: {
        v1::HostReport report;
        report.mutable_here()->set_job(order.ask().job());
        report.mutable_here()->set_runs(agents_of.contains(order.ask().agent_job_id()));
        say(std::move(report));
        break;
      }
      case v1::HostOrder::kRunner:
        if (runners.contains(idOf(order.runner().key())))
          toRunner(idOf(order.runner().key()), order.runner().order());
        break;
      default:
        break;
    }
  }

  void start(const v1::StartRunner& order) {
    const RunnerId id = idOf(order.key());
    if (!refuses.ok()) return refuse(id, refuses);
    if (runners.contains(id)) return refuse(id, {Code::kAlreadyExists, "it was started"});
    runners[id].start = order;
    ++starts[id];
    v1::HostReport report;
    *report.mutable_started()->mutable_key() = order.key();
    say(std::move(report));
    up(id);
  }

  void feed(const RunnerId& id) {
    if (!refuses.ok()) return refuse(id, refuses);
    const auto found = runners.find(id);
    if (found == runners.end()) return refuse(id, {Code::kNotFound, "no records"});
    found->second.feeder = !found->second.alive;
    up(id);
  }

  void up(const RunnerId& id) {
    v1::RunnerReport report;
    report.mutable_up()->set_is_feeder(runners.at(id).feeder);
    runnerSays(id, std::move(report));
  }

  void refuse(const RunnerId& id, const Status& why) {
    v1::HostReport report;
    v1::RunnerRefused& refused = *report.mutable_refused();
    *refused.mutable_key() = keyOf(id);
    refused.set_code(static_cast<int>(why.code()));
    refused.set_why(why.message());
    say(std::move(report));
  }

  void toRunner(const RunnerId& id, const v1::RunnerOrder& order) {
    FakeRunner& runner = runners.at(id);
    if (!runner.alive && !runner.feeder) return;
    if (order.has_stop()) runner.stops.insert(order.stop().number());
    if (order.signal() != 0) runner.signals.push_back(order.signal());
    if (order.has_retire()) runner.retired = true;
    if (order.unfollow() != 0) runner.streams.erase(order.unfollow());
    if (!order.has_follow()) return;
    const v1::Follow& follow = order.follow();
    std::erase_if(runner.streams, [&](const auto& each) {
      return each.first >> contract::kStreamLifeShift < follow.stream() >> contract::kStreamLifeShift;
    });
    for (std::size_t i = 0; i < runner.records.size(); ++i) tell(id, follow, i);
    if (runner.job_over || !runner.alive || follow.until_now()) return endStream(id, follow.stream());
    runner.streams[follow.stream()] = follow;
  }

  void tell(const RunnerId& id, const v1::Follow& follow, std::size_t index) {
    const v1::StoredRecord& record = runners.at(id).records[index];
    if (record.sequence() < follow.from_sequence()) return;
    if (follow.events_only() && record.kind() != kEventRecord) return;
    v1::RunnerReport report;
    report.mutable_records()->set_stream(follow.stream());
    *report.mutable_records()->add_records() = record;
    runnerSays(id, std::move(report));
  }

  void endStream(const RunnerId& id, std::int64_t stream) {
    v1::RunnerReport report;
    report.mutable_end()->set_stream(stream);
    runnerSays(id, std::move(report));
  }

  void runnerSays(const RunnerId& id, v1::RunnerReport report) {
    v1::HostReport said;
    *said.mutable_said()->mutable_key() = keyOf(id);
    *said.mutable_said()->mutable_report() = std::move(report);
    say(std::move(said));
  }

  void say(v1::HostReport report) {
    if (!isJoined()) return;
    is_slow ? unsaid_.push_back(std::move(report)) : gate_->said(*channel_, std::move(report));
  }

  const std::string name_;
  const int slots_;
  HostGate* gate_ = nullptr;
  std::shared_ptr<FakeChannel> channel_;
  std::vector<v1::HostReport> unsaid_;
  std::vector<v1::StartRunner> undone_;
};

}  // namespace pop::popdistd::testing
