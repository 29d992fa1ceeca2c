// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/life/queue_input.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/base/text.h"

namespace pop::popdistd {
namespace {

using std::chrono::milliseconds;

// So long the job runs at most, with the time that it takes to end.
std::optional<milliseconds> limitOf(const model::JobSpec& spec) {
  return spec.timeout.count() == 0 ? std::nullopt : std::optional(spec.timeout + spec.kill_grace);
}

std::string whyShutOut(const std::string& user) {
  const std::string name = printable(user);
  return "user " + name + " is shut out; popctl create user " + name + " --role submit lets its jobs start";
}

class Builder {
 public:
  Builder(const QueueTables& tables, queue::Time now) : tables_(tables) {
    input_.snapshot.now = now;
    input_.snapshot.rules = tables.rules;
  }

  QueueInput build() {
    addHosts();
    PodRoom room = tables_.pods.room();
    snapshot().pools = std::move(room.pools);
    for (std::size_t i = 0; i < snapshot().pools.size(); ++i) pools_[snapshot().pools[i].allocation] = i;
    snapshot().allocations = allocationAccounts(tables_, snapshot().pools);
    for (const std::int64_t id : tables_.jobs.active()) addRunning(*tables_.jobs.find(id));
    for (const OwnedBlock& block : room.owned) addOwned(block);
    snapshot().waiting.reserve(tables_.jobs.queue().size());
    for (const auto& [id, job] : tables_.jobs.queue()) addWaiting(*job);
    if (snapshot().rules.fair_share) addClaims();
    return std::move(input_);
  }

 private:
  queue::Snapshot& snapshot() { return input_.snapshot; }

  void addHosts() {
    for (const auto& [name, host] : tables_.hosts.all()) {
      hosts_[name] = snapshot().hosts.size();
      snapshot().hosts.push_back({name, host.info().slots(), whyNotSchedulable(host)});
      for (const auto& [user, pause] : host.pauses) {
        if (pause.until > tables_.now) paused_users_.insert(user);
      }
    }
  }

  std::size_t userNumber(const std::string& user) {
    const auto [found, is_new] = users_.emplace(user, snapshot().users.size());
    if (is_new) {
      snapshot().users.push_back({.name = "user " + printable(user), .limits = tables_.quotas.ofUser(user)});
      shut_out_.push_back(tables_.is_shut_out && tables_.is_shut_out(user));
    }
    return found->second;
  }

  std::size_t partitionNumber(const std::string& name) {
    const auto [found, is_new] = partitions_.emplace(name, snapshot().partitions.size());
    if (is_new) snapshot().partitions.push_back(name);
    return found->second;
  }

  // ---- what runs

  void addRunning(const Job& job) {
    queue::Running running{job.id(), {}, std::nullopt};
    for (const auto& [name, instances] : job.live->load) {
      if (const auto host = hosts_.find(name); host != hosts_.end())
        running.place.hosts.push_back({host->second, instances});
    }
    if (const std::optional<milliseconds> limit = limitOf(job.live->spec))
      running.ends = (job.info().has_started() ? timeOf(job.info().started()) : snapshot().now) + *limit;
    if (!job.info().partition().empty()) running.place.partition = partitionNumber(job.info().partition());
    snapshot().users[userNumber(job.info().user())].add(useOf(job));
    running_[job.id()] = snapshot().running.size();
    snapshot().running.push_back(std::move(running));
  }

  void addOwned(const OwnedBlock& block) {
    const auto pool = pools_.find(block.allocation);
    if (pool == pools_.end()) return;
    const auto job = running_.find(block.job);
    if (job == running_.end()) snapshot().running.push_back({});
    queue::Place& place =
        (job == running_.end() ? snapshot().running.back() : snapshot().running[job->second]).place;
    place.pool = pool->second;
    place.ipus = block.ipus;
  }

  // ---- what waits

  void addWaiting(const Job& job) {
    const std::size_t user = userNumber(job.info().user());
    snapshot().waiting.push_back({.job = job.id(),
                                  .shape = shapeOf(job, shut_out_[user]),
                                  .user = user,
                                  .priority = job.info().priority(),
                                  .since = timeOf(job.info().submitted())});
  }

  // A partition that is there may be in any state; new ones are all the same.
  std::size_t shapeOf(const Job& job, bool is_shut_out) {
    const LiveJob& live = *job.live;
    const std::string& partition = live.spec.partition.name;
    const Presence presence = partition.empty() ? Presence::kNotThere : tables_.pods.presenceOf(partition);
    key_ = live.shape_key;
    for (const std::string& host : job.record.refused_hosts()) key_ += "\n!" + host;
    const bool has_pauses = paused_users_.contains(job.info().user());
    if (has_pauses) key_ += "\n%" + job.info().user();
    if (is_shut_out) key_ += "\n-" + job.info().user();
    key_ += presence == Presence::kNotThere    ? live.pod_key
            : presence == Presence::kHeldByJob ? "\n@" + partition
                                               : "\n#" + std::to_string(job.id());
    const auto known = shapes_.find(key_);
    if (known != shapes_.end()) return known->second;
    shapes_.emplace(key_, snapshot().shapes.size());
    input_.never.push_back(false);
    queue::Shape shape = useOf(job);
    shape.limit = limitOf(live.spec);
    if (is_shut_out) shape.blocked = whyShutOut(job.info().user());
    setAllocation(job, shape);
    setHosts(job, shape);
    setPods(job, shape);
    snapshot().shapes.push_back(std::move(shape));
    return snapshot().shapes.size() - 1;
  }

  void setAllocation(const Job& job, queue::Shape& shape) {
    const std::string& name = job.record.allocation();
    if (name.empty()) return;
    const auto pool = pools_.find(name);
    if (pool == pools_.end()) {
      shape.blocked = "allocation " + name + " was removed";
      return;
    }
    shape.allocation = pool->second;
    const LeaseRequest request{job.id(), job.info().user(), job.record.role(), job.live->spec};
    const Status may = tables_.pods.checkAllocation(request, name);
    if (may.ok()) return;
    input_.never.back() = true;
    shape.blocked = may.message();
  }

  void setHosts(const Job& job, queue::Shape& shape) {
    const std::string& allocation = job.record.allocation();
    const std::set<std::string> allowed =
        allocation.empty() ? std::set<std::string>() : tables_.pods.hostsOf(allocation);
    for (const auto& [name, instances] : job.live->named_load) {
      const auto host = hosts_.find(name);
      const std::string why =
          host == hosts_.end() ? "host " + name + " has not joined" : whyClosed(job, host->second);
      if (shape.blocked.empty()) shape.blocked = why;
      if (shape.blocked.empty() && !allocation.empty() && !allowed.contains(name))
        shape.blocked = "host " + name + " serves no agent of allocation " + allocation;
      if (why.empty()) shape.named.push_back({host->second, instances});
    }
    if (job.record.hosts_named()) return;
    std::string closed;  // why the first of those that take no job of it does not
    shape.num_hosts = job.record.num_hosts();
    shape.share = job.live->largest_share;
    const auto& refused = job.record.refused_hosts();
    if (!refused.empty() || !allocation.empty() || paused_users_.contains(job.info().user())) {
      std::vector<std::size_t> usual;
      std::vector<std::size_t> all;
      for (const auto& [name, number] : hosts_) {
        if (!allocation.empty() && !allowed.contains(name)) continue;
        if (const std::string why = whyClosed(job, number); !why.empty()) {
          if (closed.empty()) closed = why;
          continue;
        }
        all.push_back(number);
        if (std::find(refused.begin(), refused.end(), name) == refused.end()) usual.push_back(number);
      }
      // If too few others are left, hosts that have refused the job are asked again: the third refusal ends
      // it.
      shape.of_hosts = usual.size() < static_cast<std::size_t>(shape.num_hosts) ? all : usual;
    }
    if (shape.blocked.empty()) shape.blocked = whyTooFew(shape, allocation, std::move(closed));
  }

  // In general, or for the job's user.
  std::string whyClosed(const Job& job, std::size_t number) const {
    const queue::Host& host = input_.snapshot.hosts[number];
    return host.closed.empty() ? whyPaused(*tables_.hosts.find(host.name), job.info().user(), tables_.now)
                               : host.closed;
  }

  std::string whyTooFew(const queue::Shape& shape, const std::string& allocation, std::string closed) {
    if (snapshot().hosts.empty())
      return "no host has joined: start popdist-agent serve --controller … on one";
    int open = 0;
    const auto count = [&](std::size_t number) {
      const std::string& why = snapshot().hosts[number].closed;
      open += why.empty() ? 1 : 0;
      if (closed.empty()) closed = why;
    };
    for (std::size_t i = 0; i < snapshot().hosts.size() && !shape.of_hosts; ++i) count(i);
    if (shape.of_hosts) std::for_each(shape.of_hosts->begin(), shape.of_hosts->end(), count);
    if (open >= shape.num_hosts) return "";
    return "it needs " + counted(shape.num_hosts, "host") +
           (allocation.empty() ? "" : " of allocation " + allocation) + ", and " + std::to_string(open) +
           " can take it" + (closed.empty() ? "" : "; " + closed);
  }

  void setPods(const Job& job, queue::Shape& shape) {
    const LeaseNeed need =
        tables_.pods.need({job.id(), job.info().user(), job.record.role(), job.live->spec});
    switch (need.kind) {
      case LeaseNeed::Kind::kNothing:
        break;
      case LeaseNeed::Kind::kPartition:
        shape.partition = partitionNumber(need.partition);
        if (const auto pool = pools_.find(tables_.pods.allocationOf(need.partition)); pool != pools_.end())
          shape.allocation = pool->second;
        break;
      case LeaseNeed::Kind::kBlock:
        shape.segment_ipus = need.segment_ipus;
        shape.segments = need.segments;
        for (const std::string& each : need.allocations) shape.pools.push_back(pools_.at(each));
        break;
      case LeaseNeed::Kind::kNever:
        input_.never.back() = true;
        shape.blocked = need.reason;
        break;
      case LeaseNeed::Kind::kBlocked:
        if (shape.blocked.empty()) shape.blocked = need.reason;
        break;
    }
  }

  // ---- fair shares

  void addClaims() {
    std::vector<queue::Claimant> claimants(snapshot().users.size());
    for (const auto& [user, number] : users_)
      claimants[number] = {tables_.quotas.usedBy(user, tables_.seen), tables_.quotas.shareOf(user), 1};
    for (const std::int64_t id : tables_.jobs.active()) {
      const Job& job = *tables_.jobs.find(id);
      claimants[users_.at(job.info().user())].used += usedSoFar(job, tables_.seen);
    }
    queue::fillClaims(claimants);
    for (std::size_t i = 0; i < claimants.size(); ++i) snapshot().users[i].claim = claimants[i].claim;
  }

  const QueueTables& tables_;
  QueueInput input_;
  std::map<std::string, std::size_t> hosts_;
  std::map<std::string, std::size_t> pools_;
  std::map<std::string, std::size_t> users_;
  std::set<std::string> paused_users_;  ///< that have a StartPause on some host
  std::map<std::string, std::size_t> partitions_;
  std::map<std::int64_t, std::size_t> running_;
  std::unordered_map<std::string, std::size_t> shapes_;
  std::vector<bool> shut_out_;  ///< by user
  std::string key_;
};

}  // namespace

QueueInput queueInput(const QueueTables& tables, queue::Time now) {
  return Builder(tables, now).build();
}

std::map<std::string, HostLoad> loadOf(JobTable& jobs) {
  std::map<std::string, HostLoad> load;
  for (const std::int64_t id : jobs.active()) {
    for (const auto& [host, instances] : jobs.find(id)->live->load) {
      load[host].jobs += 1;
      load[host].instances += instances;
    }
  }
  return load;
}

queue::Shape useOf(const Job& job) {
  queue::Shape shape;
  shape.instances = job.live->spec.num_instances;
  shape.ipus = job.live->spec.partition.name.empty() ? 0 : model::partitionIpus(job.live->spec);
  return shape;
}

double usedSoFar(const Job& job, queue::Time seen) {
  if (!job.info().has_started()) return 0;
  const auto& begin = job.record.has_started_seen() ? job.record.started_seen() : job.info().started();
  return queue::usedBetween(queue::widthOf(useOf(job)), timeOf(begin), seen);
}

std::vector<queue::Account> allocationAccounts(const QueueTables& tables,
                                               const std::vector<queue::Pool>& pools) {
  std::vector<queue::Account> accounts;
  std::map<std::string, std::size_t> numbers;
  for (const queue::Pool& pool : pools) {
    numbers[pool.allocation] = accounts.size();
    accounts.push_back(
        {.name = "allocation " + pool.allocation, .limits = tables.quotas.ofAllocation(pool.allocation)});
  }
  for (const std::int64_t id : tables.jobs.active()) {
    const Job& job = *tables.jobs.find(id);
    if (const auto found = numbers.find(job.info().allocation()); found != numbers.end())
      accounts[found->second].add(useOf(job));
  }
  return accounts;
}

}  // namespace pop::popdistd
