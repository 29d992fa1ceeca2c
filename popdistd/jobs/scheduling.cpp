// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/scheduling.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/text.h"
#include "popdistd/jobs/job_request.h"

namespace pop::popdistd {
namespace {

class Scheduler {
 public:
  Scheduler(JobTable& jobs, const HostTable& hosts, PodLeases& pods)
      : jobs_(jobs), hosts_(hosts), pods_(pods), load_(loadOf(jobs)) {
    for (const auto& [name, host] : hosts.all()) free_ += host.isSchedulable() ? 1U : 0U;
  }

  std::vector<Decision> run() {
    std::vector<Decision> decisions;
    for (const QueueOrder& each : jobs_.queue()) {
      if (reserved_.size() >= free_ && !decisions.empty()) break;
      decisions.push_back(decide(*jobs_.find(each.id)));
    }
    return decisions;
  }

 private:
  Decision decide(const Job& job) {
    const bool is_named = job.record.hosts_named();
    Decision decision{.job = job.id()};
    std::vector<std::string> hosts =
        is_named ? namedHosts(job, decision.reason) : choose(job, decision.reason);
    if (hosts.empty()) return decision;
    const LeaseAnswer lease = look(job);
    decision.never = lease.kind == LeaseAnswer::Kind::kNever;
    decision.reason = lease.reason;
    decision.waits_for = WaitsFor::kPartition;
    if (decision.never || lease.kind == LeaseAnswer::Kind::kWaits) return decision;
    for (const auto& [name, instances] : loadOn(job.live->spec, hosts)) {
      load_[name].jobs += 1;
      load_[name].instances += instances;
    }
    decision.hosts = std::move(hosts);
    return decision;
  }

  LeaseAnswer look(const Job& job) {
    LeaseAnswer lease = pods_.look({job.id(), job.info().user(), job.live->spec});
    const auto isSame = [&](const std::string& kept) {
      return kept.empty() || lease.allocation.empty() || kept == lease.allocation;
    };
    if (!lease.takes_ipus || lease.kind == LeaseAnswer::Kind::kNever) return lease;
    if (std::any_of(ipus_kept_.begin(), ipus_kept_.end(), isSame)) {
      lease.kind = LeaseAnswer::Kind::kWaits;
      lease.reason = "jobs before it wait for IPUs";
    } else if (lease.kind == LeaseAnswer::Kind::kWaits) {
      ipus_kept_.insert(lease.allocation);
    }
    return lease;
  }

  // Which of the hosts cannot take its instances now decides the reason; all of them are kept for the job.
  std::vector<std::string> namedHosts(const Job& job, std::string& reason) {
    std::vector<std::string> names;
    for (const model::Host& host : job.live->spec.hosts) names.push_back(host.name);
    for (const auto& [name, instances] : job.live->named_load) {
      reason = whyNot(name, instances);
      if (!reason.empty()) break;
    }
    if (reason.empty()) return names;
    reserve(names);
    return {};
  }

  std::vector<std::string> choose(const Job& job, std::string& reason) {
    const auto wanted = static_cast<std::size_t>(job.record.num_hosts());
    const std::vector<std::string> candidates = candidatesFor(job);
    if (candidates.size() < wanted) {
      reason = whyTooFew(job, candidates.size());
      return {};
    }
    // Its instances are divided evenly, so each host gets as many as the largest share.
    const int share = job.live->largest_share;
    std::vector<std::string> chosen;
    std::string why;
    for (const std::string& name : candidates) {
      std::string problem = whyNot(name, share);
      if (problem.empty()) {
        chosen.push_back(name);
      } else if (why.empty()) {
        why = std::move(problem);
      }
      if (chosen.size() == wanted) return chosen;
    }
    reason = why;
    reserve(candidates);
    return {};
  }

  // The emptiest first, of equal ones by name.
  std::vector<std::string> candidatesFor(const Job& job) {
    const auto& refused = job.record.refused_hosts();
    std::vector<std::pair<int, std::string>> candidates;
    for (const auto& [name, host] : hosts_.all()) {
      if (!host.isSchedulable() || std::find(refused.begin(), refused.end(), name) != refused.end()) continue;
      candidates.emplace_back(load_[name].instances - host.info().slots(), name);
    }
    std::sort(candidates.begin(), candidates.end());
    std::vector<std::string> names;
    for (auto& [load, name] : candidates) names.push_back(std::move(name));
    return names;
  }

  std::string whyTooFew(const Job& job, std::size_t candidates) const {
    if (hosts_.all().empty()) return "no host has joined: start popdist-agent serve --controller … on one";
    std::string why = "it needs " + counted(job.record.num_hosts(), "host") + ", and " +
                      std::to_string(candidates) + " can take it";
    for (const auto& [name, host] : hosts_.all()) {
      if (const std::string not_this = whyNotSchedulable(host); !not_this.empty())
        return why + "; " + not_this;
    }
    return why;
  }

  std::string whyNot(const std::string& name, int instances) {
    const Host* const host = hosts_.find(name);
    if (host == nullptr) return "host " + name + " has not joined";
    if (const std::string why = whyNotSchedulable(*host); !why.empty()) return why;
    if (reserved_.contains(name)) return "jobs before it wait for host " + name;
    const HostLoad& load = load_[name];
    const int free = host->info().slots() - load.instances;
    if (load.jobs == 0 || instances <= free) return "";
    return "it needs " + counted(instances, "slot") + " on host " + name + ", and " +
           std::to_string(std::max(free, 0)) + " of " + std::to_string(host->info().slots()) + " are free";
  }

  void reserve(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (const Host* const host = hosts_.find(name); host != nullptr && host->isSchedulable())
        reserved_.insert(name);
    }
  }

  JobTable& jobs_;
  const HostTable& hosts_;
  PodLeases& pods_;
  std::map<std::string, HostLoad> load_;
  std::set<std::string> reserved_;   ///< for jobs that wait; they could take new ones
  std::set<std::string> ipus_kept_;  ///< allocations; empty: any of them
  std::size_t free_ = 0;             ///< hosts that could take a job at all
};

}  // namespace

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

std::vector<Decision> decide(JobTable& jobs, const HostTable& hosts, PodLeases& pods) {
  return Scheduler(jobs, hosts, pods).run();
}

}  // namespace pop::popdistd
