// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/daemon_core.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "popdistd/jobs/follow/log_source.h"
#include "popdistd/jobs/host_bounds.h"
#include "popdistd/jobs/job_request.h"

namespace pop::popdistd {
namespace {

constexpr std::chrono::milliseconds kTick{1000};
constexpr std::chrono::minutes kStoreSeenTime{10};

// Revisions of one life of the daemon are above those of all lives before.
constexpr int kEpochShift = 32;
constexpr std::uint64_t kMostEpoch = 1U << 31;

Result<std::int64_t> numberIn(Store& store, const char* key, std::int64_t if_missing) {
  POP_ASSIGN_OR_RETURN(const std::optional<std::string> text, store.meta(key));
  if (!text) return if_missing;
  return parseInteger(*text);
}

void addOrphans(const std::string& host, const std::set<std::int64_t>& ids, v1::AboutReply& about) {
  constexpr std::size_t kMostNamed = 10;
  const std::size_t named = std::min(ids.size(), kMostNamed);
  auto each = ids.begin();
  for (std::size_t i = 0; i < named; ++i, ++each)
    about.add_warnings("job " + std::to_string(*each) + " on host " + host +
                       " is not in the store, which may be an old copy: it is left alone");
  if (ids.size() > named)
    about.add_warnings("so are " + std::to_string(ids.size() - named) + " more on host " + host);
}

}  // namespace

Result<std::unique_ptr<DaemonCore>> DaemonCore::start(Loop& loop, Store& store, CoreSettings settings) {
  POP_ASSIGN_OR_RETURN(const std::optional<std::string> known_cluster, store.meta("cluster_id"));
  POP_ASSIGN_OR_RETURN(const std::int64_t last_epoch, numberIn(store, "epoch", 0));
  POP_ASSIGN_OR_RETURN(const std::int64_t seen_ms, numberIn(store, "seen_ms", 0));
  const std::string cluster_id = known_cluster.value_or(settings.random_name());
  POP_RETURN_IF_ERROR(store.putMeta("cluster_id", cluster_id));
  POP_RETURN_IF_ERROR(store.putMeta("epoch", std::to_string(last_epoch + 1)));
  POP_RETURN_IF_ERROR(store.commit());
  std::unique_ptr<DaemonCore> core(new DaemonCore(loop, store, std::move(settings), cluster_id,
                                                  static_cast<std::uint64_t>(last_epoch + 1), seen_ms));
  core->storeSeenTime();
  POP_RETURN_IF_ERROR(core->load());
  return core;
}

DaemonCore::DaemonCore(Loop& loop, Store& store, CoreSettings settings, std::string cluster_id,
                       std::uint64_t epoch, std::int64_t seen_ms)
    : loop_(loop),
      store_(store),
      settings_(std::move(settings)),
      vipu_server_(settings_.vipu_server),
      cluster_id_(std::move(cluster_id)),
      first_epoch_(epoch),
      started_(settings_.clock()),
      seen_(loop, settings_.clock, seen_ms),
      seen_stored_(loop.now()),
      revisions_(epoch << kEpochShift),
      shown_(loop, revisions_),
      commits_(loop, store, [this](const Status& why) { storeFailed(why); }),
      jobs_(revisions_),
      hosts_(loop, settings_.clock, revisions_, settings_.host_rules,
             [this](const Host& host) {
               commits_.wrote(
                   store_.putRecord(RecordKind::kHost, host.info().name(), host.record.SerializeAsString()));
               lives_.scheduleSoon();
             }),
      links_(
          [this](const std::string& name, v1::HostOrder order) {
            const Host* const host = hosts_.find(name);
            if (host == nullptr || host->channel == nullptr) return false;
            host->channel->send(std::move(order));
            return true;
          },
          epoch),
      pods_({loop, settings_.clock, store, commits_, revisions_, settings_.pods, podHooks(),
             settings_.version}),
      quotas_(store, commits_),
      lives_({loop, settings_.clock, seen_, store, commits_, jobs_, hosts_, links_, pods_.leases(), quotas_,
              settings_.queue, settings_.is_shut_out, settings_.issue, vipu_server_}),
      scans_(
          loop, jobs_, revisions_,
          [this](const Caller& caller, const Job& job) { return view(job, sightOf(caller, job)); },
          [this](const Caller& caller, const Job& job) -> const std::string& {
            return reasonOf(job, sightOf(caller, job));
          }),
      retention_(settings_.retention) {
  tick();
}

PodHooks DaemonCore::podHooks() {
  return {
      .is_admin = [this](const std::string& user) { return settings_.is_admin && settings_.is_admin(user); },
      .changed = [this] { lives_.scheduleSoon(); },
      .cancel =
          [this](std::int64_t id, const std::string& why) {
            if (Job* const job = jobs_.find(id)) lives_.cancel(*job, why);
          },
      .user_of =
          [this](std::int64_t id) {
            const Job* const job = jobs_.find(id);
            return job == nullptr ? std::string() : job->info().user();
          },
      .is_over =
          [this](std::int64_t id) {
            const Job* const job = jobs_.find(id);
            return job == nullptr ? !is_unreadable_.contains(id) : job->state() == v1::JOB_ENDED;
          },
      .is_down =
          [this](const std::string& name) {
            const Host* const host = hosts_.find(name);
            return host != nullptr && host->info().state() == v1::HOST_DOWN;
          },
      .has_quota =
          [this](const std::string& allocation) {
            return quotas_.all().contains({static_cast<int>(v1::QUOTA_ALLOCATION), allocation});
          },
      .audit = settings_.audit};
}

DaemonCore::~DaemonCore() {
  loop_.cancel(tick_);
}

// A job that cannot be read stays in the store, and is listed as what it is.
Status DaemonCore::load() {
  POP_ASSIGN_OR_RETURN(const std::vector<NamedRecord> hosts, store_.records(RecordKind::kHost));
  std::vector<v1::HostRecord> records;
  for (const NamedRecord& each : hosts) {
    v1::HostRecord record;
    if (!record.ParseFromString(each.bytes) || record.info().name() != each.name)
      return {Code::kDataLoss, "the store's record of host " + inQuotes(each.name) + " cannot be read"};
    records.push_back(std::move(record));
  }
  hosts_.load(records);
  POP_ASSIGN_OR_RETURN(std::vector<v1::JobRecord> jobs, store_.jobs());
  unreadable_.clear();
  is_unreadable_.clear();
  POP_RETURN_IF_ERROR(loadNextJob(jobs));
  for (v1::JobRecord& record : jobs) {
    std::unique_ptr<LiveJob> live;
    if (record.info().state() != v1::JOB_ENDED) {
      Result<std::unique_ptr<LiveJob>> read = liveJob(record);
      if (!read.ok()) {
        is_unreadable_.insert(record.info().id());
        unreadable_.push_back("job " + std::to_string(record.info().id()) +
                              " cannot be read, and is left alone: " + read.status().message());
        continue;
      }
      live = std::move(*read);
    }
    jobs_.add(std::move(record), std::move(live));
  }
  POP_RETURN_IF_ERROR(pods_.load());
  POP_RETURN_IF_ERROR(quotas_.load());
  lives_.adopt();
  return {};
}

// Hosts could once say any number.
Status DaemonCore::loadNextJob(const std::vector<v1::JobRecord>& jobs) {
  POP_ASSIGN_OR_RETURN(next_job_id_, numberIn(store_, "next_job_id", 1));
  if (next_job_id_ > 0 && next_job_id_ <= kMostNumber) return {};
  const std::int64_t stored = std::exchange(next_job_id_, 1);
  for (const v1::JobRecord& each : jobs) {
    if (each.info().id() < kMostNumber) next_job_id_ = std::max(next_job_id_, each.info().id() + 1);
  }
  unreadable_.push_back("the number of the next job was " + std::to_string(stored) +
                        " in the store, which cannot be: it is " + std::to_string(next_job_id_));
  return {};
}

// Memory is ahead of the store: it is read again, and the hosts, which join again, tell what has happened.
void DaemonCore::storeFailed(const Status& why) {
  lives_.unfollowAll();
  for (auto& [name, host] : hosts_.all()) {
    if (host.channel == nullptr) continue;
    links_.left(name);
    std::exchange(host.channel, nullptr)
        ->close(unavailable("popdistd cannot write its store: " + why.message()));
  }
  pods_.storeFailed(why);
  jobs_.clear();
  revisions_.restart();
  load_problem_ = load();
  if (!load_problem_.ok() && settings_.give_up) settings_.give_up(load_problem_);
}

void DaemonCore::tick() {
  if (tick_due_)
    loop_lag_.add(std::max(0.0, std::chrono::duration<double>(loop_.now() - *tick_due_).count()));
  hosts_.tick();
  lives_.tick();
  pods_.tick();
  lookAtClock();
  forgetOldJobs();
  tick_due_ = loop_.now() + kTick;
  tick_ = loop_.postAfter(kTick, [this] { tick(); });
}

void DaemonCore::lookAtClock() {
  if (std::optional<std::string> jump = seen_.look()) {
    clock_jump_ = std::move(*jump);
    if (settings_.warn) settings_.warn(clock_jump_);
  }
  if (loop_.now() - seen_stored_ >= kStoreSeenTime) storeSeenTime();
}

void DaemonCore::storeSeenTime() {
  seen_stored_ = loop_.now();
  commits_.wrote(store_.putMeta("seen_ms", std::to_string(seen_.storedMs())));
}

// ---- the daemon itself

void DaemonCore::about(const Caller& caller, v1::Nothing, Reply<v1::AboutReply> reply) {
  v1::AboutReply about;
  about.set_version(settings_.version);
  about.set_cluster_id(cluster_id_);
  about.set_epoch(epoch_);
  *about.mutable_started() = timestamp(started_);
  about.set_user(caller.user);
  about.set_role(caller.role);
  about.set_known_by(caller.known_by);
  about.set_leader(settings_.leader);
  about.set_revision(revisions_.current());
  if (!load_problem_.ok()) about.add_warnings("the store could not be read: " + load_problem_.message());
  if (const Status& last = commits_.last(); !last.ok())
    about.add_warnings("the store could not be written: " + last.message());
  for (const std::string& each : unreadable_) about.add_warnings(each);
  if (!clock_jump_.empty()) about.add_warnings(clock_jump_);
  for (const auto& [host, ids] : lives_.orphans()) addOrphans(host, ids, about);
  reply(std::move(about));
}

void DaemonCore::checkStore(const Caller& caller, v1::Nothing, Reply<v1::CheckStoreReply> reply) {
  if (const Status allowed = checkManages(caller, "check the store"); !allowed.ok()) return reply(allowed);
  const Result<StoreCheck> check = store_.check();
  if (!check.ok()) return reply(check.status());
  v1::CheckStoreReply found;
  for (const std::string& each : check.value().findings) found.add_findings(each);
  found.set_jobs(check.value().jobs);
  found.set_events(check.value().events);
  found.set_bytes(check.value().bytes);
  reply(std::move(found));
}

void DaemonCore::backup(const Caller& caller, v1::Nothing, Reply<std::string> reply) {
  if (const Status allowed = checkManages(caller, "copy the store"); !allowed.ok()) return reply(allowed);
  const std::string path = settings_.temporary_directory + "/backup-" + settings_.random_name();
  commits_.whenDurable([this, path, reply](const Status& status) {
    if (!status.ok()) return reply(status);
    const Status copied = store_.backup(path);
    copied.ok() ? reply(path) : reply(copied);
  });
}

Result<std::unique_ptr<Source<ShownChange>>> DaemonCore::watch(const Caller& caller,
                                                               const v1::WatchRequest& request, Ready ready) {
  return std::unique_ptr<Source<ShownChange>>(
      std::make_unique<ChangeSource>(revisions_, shown_, jobs_, hosts_,
                                     Views{
                                         caller,
                                         [this, caller](const Job& job) { return sightOf(caller, job); },
                                         [this, caller](const std::string& id) {
                                           return pods_.sees(caller, id) ? Sight::kAll : Sight::kNothing;
                                         },
                                         [this](const Job& job, Sight sight) { return view(job, sight); },
                                         [this](const Host& host) { return view(host); },
                                         [this](const std::string& id) { return pods_.show(id); },
                                     },
                                     request, std::move(ready)));
}

Result<std::unique_ptr<Source<v1::Record>>> DaemonCore::logs(const Caller& caller,
                                                             const v1::LogsRequest& request, Ready ready) {
  POP_ASSIGN_OR_RETURN(const Job* const job, controlled(caller, request.job()));
  POP_RETURN_IF_ERROR(LogSource::outOfReach(*job, hosts_, request.follow()));
  return std::unique_ptr<Source<v1::Record>>(
      std::make_unique<LogSource>(jobs_, hosts_, links_, revisions_, job->id(), request, std::move(ready)));
}

// ---- hosts' streams

// Runners of jobs that cannot be read are left alone, too.
Status DaemonCore::joined(const v1::HostJoins& joins, const std::string& address,
                          std::shared_ptr<HostChannel> channel) {
  POP_RETURN_IF_ERROR(checkJoins(joins));
  // Without the store's jobs, it would be told to kill its runners as unknown.
  if (!load_problem_.ok()) return unavailable("popdistd cannot read its store: " + load_problem_.message());
  if (joins.cluster_id() == cluster_id_ && joins.epoch() > epoch_) return riseAbove(joins);
  POP_RETURN_IF_ERROR(hosts_.joined(joins, address, channel));
  v1::HostOrder order;
  v1::HostWelcome& welcome = *order.mutable_welcome();
  welcome.set_cluster_id(cluster_id_);
  welcome.set_epoch(epoch_);
  welcome.set_heartbeat_ms(static_cast<int>(settings_.host_rules.heartbeat.count()));
  channel->send(std::move(order));
  const bool is_of_this_cluster = joins.cluster_id() == cluster_id_;
  std::vector<v1::HeldRunner> runners;
  if (is_of_this_cluster) runners = {joins.runners().begin(), joins.runners().end()};
  const std::int64_t first_free = firstFreeId(runners);
  std::erase_if(runners, [this](const auto& each) { return is_unreadable_.contains(each.key().job()); });
  lives_.hostJoined(*hosts_.find(joins.name()), runners, std::exchange(next_job_id_, first_free));
  commits_.wrote(store_.putMeta("next_job_id", std::to_string(next_job_id_)));
  return {};
}

// Durably first: a popdistd that does not lead any more cannot, and the host refuses it for ever.
Status DaemonCore::riseAbove(const v1::HostJoins& joins) {
  if (joins.epoch() > first_epoch_ + kMostUnknownEpochs || joins.epoch() >= kMostEpoch)
    return invalidArgument("host " + joins.name() + " has seen epoch " + std::to_string(joins.epoch()) +
                           ", and popdistd began with " + std::to_string(first_epoch_) +
                           ": so many starts do not lie between them. If popdistd's store is an old copy, "
                           "put a newer one in its place; else empty the host's state directory "
                           "(popdist-agent serve --state)");
  rising_to_ = std::max(rising_to_, joins.epoch() + 1);
  commits_.wrote(store_.putMeta("epoch", std::to_string(rising_to_)));
  commits_.whenDurable([this](const Status& status) {
    if (status.ok()) epoch_ = std::max(epoch_, rising_to_);
  });
  return unavailable("popdistd's store is older than what this host has seen: it catches up, so join again");
}

// No job gets the number of one that only a host knows. Numbers far above all that is known are not passed
// over to: they are a host's invention.
std::int64_t DaemonCore::firstFreeId(const std::vector<v1::HeldRunner>& runners) {
  const std::int64_t most = std::min(next_job_id_ + kMostUnknownJobs - skipped_jobs_, kMostNumber);
  std::int64_t first = next_job_id_;
  for (const v1::HeldRunner& each : runners) {
    if (each.key().job() < most) first = std::max(first, each.key().job() + 1);
  }
  skipped_jobs_ += first - next_job_id_;
  return first;
}

void DaemonCore::said(HostChannel& channel, v1::HostReport report) {
  Host* const host = hosts_.find(channel);
  if (host == nullptr) return;
  bound(report);
  hosts_.heard(*host, report.heartbeat().clock_ms());
  if (report.has_started() && isLeftAlone(report.started().key().job())) return;
  lives_.said(*host, std::move(report));
}

bool DaemonCore::isLeftAlone(std::int64_t job) const {
  return job <= 0 || job >= next_job_id_ || is_unreadable_.contains(job) || lives_.isOrphan(job);
}

void DaemonCore::left(HostChannel& channel, const Status&) {
  Host* const host = hosts_.find(channel);
  if (host == nullptr) return;
  links_.left(host->info().name());
  hosts_.left(*host);
}

}  // namespace pop::popdistd
