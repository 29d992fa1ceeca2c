// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/runners.h"

#include <csignal>
#include <utility>

#include "agent/cluster/instances_here.h"
#include "agent/cluster/runner_reports.h"
#include "common/base/text.h"
#include "common/contract/record_streams.h"
#include "common/log/log.h"
#include "common/model/end_times.h"

namespace pop::agent {
namespace {

constexpr int kExitNoRecords = 3;  // of a feeder

std::string removeOrder(const RunnerId& id) {
  v1::HostOrder order;
  *order.mutable_remove() = keyOf(id);
  return order.SerializeAsString();
}

// Among all clusters' runners of this host, and none of the launchers' ids.
std::string admissionId(const RunnerId& id) {
  return id.cluster + ' ' + textOf(id);
}

}  // namespace

Runners::Runners(os::EpollLoop& loop, Admission& admission, const RunnerDirectories& directories,
                 RunnerPrograms programs, Events events)
    : loop_(loop),
      admission_(admission),
      directories_(directories),
      programs_(std::move(programs)),
      events_(std::move(events)),
      reaper_(loop, programs_.holds) {}

Runners::~Runners() {
  if (stop_timer_) loop_.cancel(*stop_timer_);
}

Runners::Entry* Runners::find(const RunnerId& id) {
  const auto found = entries_.find(id);
  return found == entries_.end() || found->second.is_over ? nullptr : &found->second;
}

std::vector<v1::HeldRunner> Runners::held() const {
  std::vector<v1::HeldRunner> all;
  const Result<std::vector<RunnerId>> ids = directories_.list(cluster_);
  if (!ids.ok()) log::warning(ids.status().message());
  for (const RunnerId& id : ids.ok() ? ids.value() : std::vector<RunnerId>()) {
    const auto found = entries_.find(id);
    v1::HeldRunner& each = all.emplace_back();
    *each.mutable_key() = keyOf(id);
    each.set_alive(found != entries_.end() && found->second.role == Role::kRunner && !found->second.is_over);
  }
  return all;
}

void Runners::report(const RunnerId& id, const v1::HostReport& state) {
  if (id.cluster == cluster_) events_.report(state);
}

void Runners::refuse(const RunnerId& id, const Status& why) {
  report(id, refusalOf(id, why));
}

void Runners::tellStarted(const RunnerId& id, const Entry& entry) {
  report(id, startOf(id, entry.process->pid()));
}

// A daemon that has lost the connection, and with it what a feeder said first, waits for that again.
void Runners::tellUp(const RunnerId& id, const Entry& entry) {
  tellStarted(id, entry);
  if (entry.role != Role::kFeeder || id.cluster != cluster_) return;
  v1::RunnerReport report;
  report.mutable_up()->set_is_feeder(true);
  events_.said(keyOf(id), report.SerializeAsString());
}

// The order is repeated when the daemon has not heard the answer.
void Runners::start(const v1::StartRunner& order, std::string_view encoded) {
  const RunnerId id = idOf(order.key());
  const Entry* const there = find(id);
  if (there != nullptr && there->role == Role::kRunner) {
    if (there->process->isUp()) tellStarted(id, *there);
    return;
  }
  const Status started = tryStart(id, order, encoded);
  log::info("runner of job " + textOf(id) + " of " + inQuotes(order.user()) + ": " +
            (started.ok() ? "started, pid " + std::to_string(find(id)->process->pid()) : started.message()));
  if (!started.ok()) refuse(id, started);
}

Status Runners::tryStart(const RunnerId& id, const v1::StartRunner& order, std::string_view encoded) {
  if (stopped_) return unavailable("the agent service there is being stopped");
  if (entries_.contains(id) || directories_.ownerOf(id).ok())
    return {Code::kAlreadyExists, "this attempt to start the job was made before on this host"};
  POP_ASSIGN_OR_RETURN(const int instances, instancesOnFirstHost(order.spec()));
  POP_ASSIGN_OR_RETURN(const UnixUser user,
                       admission_.admitRunner({order.user(), admissionId(id), instances}));
  Status started = directories_.create(id, user);
  if (started.ok()) {
    started = run(id, Role::kRunner, user.name, encoded);
    if (!started.ok()) static_cast<void>(directories_.remove(id).ok());
  }
  if (!started.ok()) admission_.releaseRunner(admissionId(id));
  return started;
}

Status Runners::run(const RunnerId& id, Role role, const std::string& user, std::string_view encoded) {
  POP_ASSIGN_OR_RETURN(
      std::unique_ptr<RunnerProcess> process,
      RunnerProcess::start(
          loop_, reaper_,
          {user, programs_.known(user), programs_.agent, programs_.runner, directories_.pathOf(id)}, encoded,
          {.report = [this, id](bool is_up, std::string_view report) { said(id, is_up, report); },
           .ended = [this, id](const RunnerEnd& end) { ended(id, end); }}));
  if (is_paused_) process->pause();
  Entry& entry = entries_[id];
  entry = Entry{};
  entry.role = role;
  entry.process = std::move(process);
  return {};
}

// By the directory's owner, who may have left the users file since.
Result<std::string> Runners::userOf(const RunnerId& id) const {
  POP_ASSIGN_OR_RETURN(const uid_t owner, directories_.ownerOf(id));
  if (std::optional<std::string> name = admission_.unixUserOf(owner)) return std::move(*name);
  POP_ASSIGN_OR_RETURN(UnixUser user, lookUpUser(owner));
  return std::move(user.name);
}

void Runners::feed(const v1::RunnerKey& key, std::string_view encoded) {
  const RunnerId id = idOf(key);
  if (const Entry* const there = find(id); there != nullptr && there->role != Role::kRemover) {
    if (there->process->isUp()) tellUp(id, *there);
    return;
  }
  if (stopped_) return refuse(id, unavailable("the agent service there is being stopped"));
  if (entries_.contains(id)) return refuse(id, unavailable("the process of this job there is just ending"));
  const Result<std::string> user = userOf(id);
  const Status started = user.ok() ? run(id, Role::kFeeder, user.value(), encoded) : user.status();
  if (!started.ok()) refuse(id, started);
}

// The daemon has the end of the job: its runner is leaving.
void Runners::remove(const v1::RunnerKey& key, std::string_view encoded) {
  const RunnerId id = idOf(key);
  const auto there = entries_.find(id);
  if (there == entries_.end()) return startRemover(id, encoded);
  Entry& entry = there->second;
  if (entry.role == Role::kRemover) return;
  entry.then_remove = encoded;
  if (entry.is_over) return;
  if (entry.role == Role::kFeeder) return entry.process->kill();
  v1::RunnerOrder retire;
  retire.mutable_retire();
  entry.process->send(retire);
}

void Runners::startRemover(const RunnerId& id, std::string_view encoded) {
  if (stopped_) return refuse(id, unavailable("the agent service there is being stopped"));
  if (entries_.contains(id)) return refuse(id, unavailable("the process of this job there is just ending"));
  const Result<std::string> user = userOf(id);
  if (user.code() == Code::kNotFound && !directories_.ownerOf(id).ok()) return report(id, removalOf(id));
  const Status started = user.ok() ? run(id, Role::kRemover, user.value(), encoded) : user.status();
  if (!started.ok()) refuse(id, started);
}

void Runners::kill(const v1::RunnerKey& key) {
  if (const Entry* const there = find(idOf(key)); there != nullptr && there->role != Role::kRemover)
    there->process->kill();
}

void Runners::pass(const v1::RunnerOrders& orders) {
  const Entry* const there = find(idOf(orders.key()));
  if (there == nullptr || there->role == Role::kRemover) return;
  there->process->send(orders.order());
  if (orders.order().stop().number() > 1) there->process->killAfter(kServiceEndTimeout);
}

void Runners::said(const RunnerId& id, bool is_up, std::string_view report) {
  const Entry& entry = entries_.at(id);
  if (entry.role == Role::kRemover) return;
  if (is_up) tellStarted(id, entry);
  if (id.cluster == cluster_) events_.said(keyOf(id), report);
}

void Runners::ended(const RunnerId& id, const RunnerEnd& end) {
  Entry& entry = entries_.at(id);
  entry.is_over = true;
  if (entry.role == Role::kRemover)
    removerEnded(id, entry, end);
  else
    runnerEnded(id, entry, end);
  // From the loop: this is a call of the process's object.
  loop_.post([this, id] { forget(id); });
}

void Runners::runnerEnded(const RunnerId& id, Entry& entry, const RunnerEnd& end) {
  const bool is_runner = entry.role == Role::kRunner;
  const std::string how = "its popdist-runner " + end.how;
  if (is_runner) {
    admission_.releaseRunner(admissionId(id));
    log::info("runner of job " + textOf(id) + ": " + end.how);
  }
  if (entry.process->isUp()) return report(id, endOf(id, end.how));
  if (!is_runner && end.exit_code == kExitNoRecords)
    return refuse(id, {Code::kNotFound, "there are no records of job " + textOf(id) + " on this host"});
  if (!is_runner) return refuse(id, unavailable(how));
  if (directories_.remove(id).ok()) return refuse(id, unavailable(how));
  entry.at_end = refusalOf(id, unavailable(how));  // its user's files are there: forget() has them removed
}

void Runners::removerEnded(const RunnerId& id, Entry& entry, const RunnerEnd& end) {
  const Status removed =
      end.exit_code == 0 ? directories_.remove(id) : internalError("popdist-runner " + end.how);
  if (!removed.ok()) log::warning("the directory of job " + textOf(id) + " stays: " + removed.message());
  if (entry.at_end.has_refused()) return report(id, entry.at_end);
  removed.ok() ? report(id, removalOf(id)) : refuse(id, removed);
}

void Runners::forget(const RunnerId& id) {
  Entry entry = std::move(entries_.at(id));
  entries_.erase(id);
  entry.process.reset();
  if (!entry.then_remove.empty()) startRemover(id, entry.then_remove);
  if (entry.role == Role::kRunner && entry.at_end.has_refused()) clearAfter(id, entry.at_end);
  if (stopped_ && entries_.empty()) stopped_();
}

// Nothing is left of a start that has failed.
void Runners::clearAfter(const RunnerId& id, const v1::HostReport& refused) {
  const Result<std::string> user = userOf(id);
  if (user.ok() && !stopped_ && run(id, Role::kRemover, user.value(), removeOrder(id)).ok())
    entries_.at(id).at_end = refused;
  else
    report(id, refused);
}

void Runners::pause() {
  if (stopped_ || std::exchange(is_paused_, true)) return;
  for (auto& [id, entry] : entries_) entry.process->pause();
}

void Runners::resume() {
  if (!std::exchange(is_paused_, false)) return;
  for (auto& [id, entry] : entries_) entry.process->resume();
}

std::int64_t Runners::running() const {
  std::int64_t count = 0;
  for (const auto& [id, entry] : entries_) count += entry.role == Role::kRunner ? 1 : 0;
  return count;
}

void Runners::stop(std::function<void()> stopped) {
  stopped_ = std::move(stopped);
  resume();  // their ends are to be seen
  if (entries_.empty()) return stopped_();
  v1::RunnerOrder order;
  order.mutable_stop()->set_number(contract::kServicesStop);
  order.mutable_stop()->set_signal(SIGTERM);
  for (auto& [id, entry] : entries_)
    entry.role == Role::kRunner ? entry.process->send(order) : entry.process->kill();
  stop_timer_ = loop_.postAfter(kServiceEndTimeout, [this] {
    for (auto& [id, entry] : entries_) entry.process->kill();
  });
}

}  // namespace pop::agent
