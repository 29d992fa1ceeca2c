// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/joined_host.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/text.h"
#include "common/log/log.h"
#include "common/wire/runner_report.h"

namespace pop::agent {
namespace {

constexpr int kShortestHeartbeatMs = 50;
constexpr int kLongestHeartbeatMs = 60000;

// Longer than connecting takes, which has its own limit.
constexpr std::chrono::milliseconds kWelcomeTimeout{20000};

std::int64_t clockMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

JoinedHost::JoinedHost(os::EpollLoop& loop, Admission& admission, JoinSettings settings,
                       std::function<bool(const std::string&)> runs_job)
    : loop_(loop),
      settings_(std::move(settings)),
      runs_job_(std::move(runs_job)),
      directories_(settings_.state),
      reaper_(loop, settings_.holds),
      link_(loop, reaper_, settings_.link,
            {.opened = [this] { sayJoins(); },
             .order = [this](std::string_view order) { obey(order); },
             .closed = [this] { closed(); },
             .written = [this] { look(); }}),
      runners_(loop, admission, directories_,
               {settings_.link.agent, settings_.runner, settings_.known, settings_.holds},
               {.report = [this](const v1::HostReport& state) { report(state); },
                .said = [this](const v1::RunnerKey& key, std::string_view report) { said(key, report); }}) {}

JoinedHost::~JoinedHost() {
  stopTimers();
}

Status JoinedHost::start() {
  POP_RETURN_IF_ERROR(directories_.prepare());
  POP_ASSIGN_OR_RETURN(lock_, directories_.take());
  POP_ASSIGN_OR_RETURN(cluster_, directories_.cluster());
  POP_ASSIGN_OR_RETURN(epoch_, directories_.epoch());
  runners_.setCluster(cluster_);
  link_.start();
  return {};
}

void JoinedHost::stop(std::function<void()> stopped) {
  runners_.stop([this, stopped = std::move(stopped)] { link_.stop(stopped); });
}

void JoinedHost::sayJoins() {
  is_welcome_ = false;
  since_joins_.clear();
  v1::HostReport report;
  v1::HostJoins& joins = *report.mutable_joins();
  joins = settings_.inventory;
  joins.set_cluster_id(cluster_);
  joins.set_epoch(epoch_);
  joins.set_clock_ms(clockMs());
  for (v1::HeldRunner& runner : runners_.held()) *joins.add_runners() = std::move(runner);
  link_.send(report.SerializeAsString());
  welcome_timer_ = loop_.postAfter(kWelcomeTimeout, [this] {
    link_.reject("it has not answered within " + secondsText(kWelcomeTimeout) +
                 " s: is that popdistd, and does it hang?");
  });
}

void JoinedHost::obey(std::string_view encoded) {
  v1::HostOrder order;
  if (!order.ParseFromArray(encoded.data(), static_cast<int>(encoded.size())))
    return link_.reject("popdistd has sent a malformed order");
  if (order.has_welcome()) return welcome(order.welcome());
  if (!is_welcome_) return link_.reject("popdistd gives orders before it has said what cluster it is of");
  switch (order.body_case()) {
    case v1::HostOrder::kStart:
      return runners_.start(order.start(), encoded);
    case v1::HostOrder::kRunner:
      return runners_.pass(order.runner());
    case v1::HostOrder::kFeed:
      return runners_.feed(order.feed(), encoded);
    case v1::HostOrder::kRemove:
      return runners_.remove(order.remove(), encoded);
    case v1::HostOrder::kAsk:
      return sayHere(order.ask());
    case v1::HostOrder::kKill:
      return runners_.kill(order.kill());
    default:
      return;  // of a later version
  }
}

// Events since HostJoins belong to the cluster that it named.
void JoinedHost::welcome(const v1::HostWelcome& welcome) {
  // It was stopped for long, and another has taken over.
  if (welcome.cluster_id() == cluster_ && welcome.epoch() < epoch_)
    return link_.reject("it is a popdistd of the past: its epoch is " + std::to_string(welcome.epoch()) +
                        ", and this host has seen " + std::to_string(epoch_));
  if (const Status entered = directories_.enter(welcome.cluster_id(), welcome.epoch()); !entered.ok())
    return link_.reject(entered.message());
  epoch_ = welcome.epoch();
  link_.confirm();
  is_welcome_ = true;
  if (welcome.cluster_id() != cluster_) since_joins_.clear();
  cluster_ = welcome.cluster_id();
  runners_.setCluster(cluster_);
  log::info("joined the cluster " + cluster_ + " at " + link_.controller() + " as " +
            inQuotes(settings_.inventory.name()));
  for (const v1::HostReport& state : std::exchange(since_joins_, {})) report(state);
  heartbeat_ = std::chrono::milliseconds(
      std::clamp(welcome.heartbeat_ms(), kShortestHeartbeatMs, kLongestHeartbeatMs));
  beat();
}

// Reports that wait to be sent show as well that the host is alive.
void JoinedHost::beat() {
  stopTimers();
  v1::HostReport report;
  report.mutable_heartbeat()->set_clock_ms(clockMs());
  if (!link_.isFull()) link_.send(report.SerializeAsString());
  heartbeat_timer_ = loop_.postAfter(heartbeat_, [this] { beat(); });
}

void JoinedHost::stopTimers() {
  for (std::optional<TimerId>* timer : {&heartbeat_timer_, &welcome_timer_})
    if (*timer) loop_.cancel(*std::exchange(*timer, std::nullopt));
}

void JoinedHost::sayHere(const v1::AskJob& ask) {
  v1::HostReport state;
  state.mutable_here()->set_job(ask.job());
  state.mutable_here()->set_runs(runs_job_(ask.agent_job_id()));
  report(state);
}

void JoinedHost::report(const v1::HostReport& state) {
  if (is_welcome_) return link_.send(state.SerializeAsString());
  if (link_.isOpen()) since_joins_.push_back(state);  // else the next HostJoins tells
}

// The records of a runner are the daemon's to ask for again.
void JoinedHost::said(const v1::RunnerKey& key, std::string_view report) {
  if (!is_welcome_) return;
  link_.send(wire::runnerSaid(key, report));
  look();
}

void JoinedHost::look() {
  link_.isFull() ? runners_.pause() : runners_.resume();
}

void JoinedHost::closed() {
  is_welcome_ = false;
  since_joins_.clear();
  stopTimers();
  runners_.resume();
}

}  // namespace pop::agent
