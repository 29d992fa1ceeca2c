// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/popdistd/queue/queue_world.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace pop::queue::testing {
namespace {

constexpr int kHosts = 16;
constexpr int kSlots = 8;
constexpr int kUsers = 6;
constexpr std::size_t kMostProblems = 20;

void addTo(std::uint64_t& digest, std::uint64_t value) {
  digest = (digest ^ value) * 1099511628211U;
}

}  // namespace

World::World(const WorldSettings& settings) : settings_(settings), random_(settings.seed) {
  now_.rules = settings.rules;
  result_.digest = 14695981039346656037U;
  makeCluster();
  makeJobs();
}

void World::makeCluster() {
  for (int i = 0; i < kHosts; ++i) now_.hosts.push_back({"h" + std::to_string(100 + i), kSlots, ""});
  total_slots_ = kHosts * kSlots;
  slots_used_.assign(kHosts, 0);
  jobs_on_.assign(kHosts, 0);
  now_.pools.push_back({"all", {~vipu::IpuMask{0}, ~vipu::IpuMask{0}}});
  now_.allocations.push_back({.name = "allocation all"});
  for (int i = 0; i < kUsers; ++i) now_.users.push_back({.name = "user u" + std::to_string(i)});
  if (!settings_.with_quotas) return;
  now_.users[0].limits = {.running_jobs = 6};
  now_.users[1].limits = {.instances = 40};
  now_.users[2].limits = {.ipus = 48};
  now_.allocations[0].limits = {.ipus = 112};
}

// Most are small; some need several hosts, a whole one, more than one has, two by name, or IPUs.
std::size_t World::addShape(int kind, bool has_limit, milliseconds limit) {
  Shape shape;
  shape.share = 1 + random(4);
  if (kind >= 60 && kind < 75) shape.num_hosts = 2 + random(3);
  if (kind >= 75 && kind < 80) shape.share = kSlots;
  if (kind >= 80 && kind < 82) shape.share = 2 * kSlots;
  if (kind >= 82 && kind < 84) {
    const auto first = static_cast<std::size_t>(random(kHosts - 1));
    shape.named = {{first, 4}, {first + 1, 4}};
  }
  if (kind == 84) shape.num_hosts = kHosts / 2, shape.share = kSlots;
  if (kind > 84) {
    shape.segment_ipus = 1 << (1 + random(5));
    shape.segments = kind > 97 ? 2 : 1;
    shape.pools = {0};
  }
  shape.instances = shape.named.empty() ? shape.num_hosts * shape.share : 8;
  shape.ipus = shape.segment_ipus * shape.segments;
  if (has_limit) shape.limit = limit;
  const std::vector<int> key{
      shape.share,        shape.num_hosts, shape.named.empty() ? -1 : static_cast<int>(shape.named[0].host),
      shape.segment_ipus, shape.segments,  shape.limit ? static_cast<int>(shape.limit->count()) : 0};
  const auto [known, is_new] = shape_numbers_.emplace(key, now_.shapes.size());
  if (is_new) now_.shapes.push_back(std::move(shape));
  return known->second;
}

void World::makeJobs() {
  Time at{seconds(1'700'000'000)};
  std::exponential_distribution<double> gap(1.0 / static_cast<double>(settings_.mean_gap.count()));
  for (int i = 0; i < settings_.num_jobs; ++i) {
    at += milliseconds(static_cast<std::int64_t>(gap(random_)));
    Job job;
    const milliseconds limit = seconds(30) * (1 << random(6));
    const bool has_limit = random(100) >= settings_.percent_without_limit;
    job.runs = milliseconds(limit.count() * (10 + random(91)) / 100);
    job.waiting = {.job = i + 1,
                   .shape = addShape(random(100), has_limit, limit),
                   .user = static_cast<std::size_t>(random(kUsers)),
                   .priority = settings_.with_priorities && random(10) == 0 ? random(3) : 0,
                   .since = at};
    arrivals_.insert({at, job.waiting.job});
    // One that is over the quota by itself would wait for ever.
    while (!whyNever(now_.users[job.waiting.user], now_.shapes[job.waiting.shape]).empty())
      job.waiting.user = (job.waiting.user + 1) % kUsers;
    jobs_.push_back(job);
  }
  last_arrival_ = at;
}

void World::problem(const std::string& what) {
  if (result_.problems.size() < kMostProblems) result_.problems.push_back(what);
}

WorldResult World::run() {
  const Time first = arrivals_.begin()->first;
  while (!arrivals_.empty() || !ends_.empty()) {
    const bool is_arrival =
        ends_.empty() || (!arrivals_.empty() && arrivals_.begin()->first < ends_.begin()->first);
    auto& events = is_arrival ? arrivals_ : ends_;
    const Time at = events.begin()->first;
    if (now_.now < last_arrival_ && now_.now >= first) {
      const int used = std::accumulate(slots_used_.begin(), slots_used_.end(), 0);
      used_slot_ms_ += used * static_cast<double>((std::min(at, last_arrival_) - now_.now).count());
    }
    now_.now = at;
    while (!events.empty() && events.begin()->first == at) {
      const JobId job = events.begin()->second;
      events.erase(events.begin());
      is_arrival ? arrive(job) : end(job);
    }
    pass();
  }
  result_.makespan = now_.now - first;
  result_.mean_wait /= std::max(1, result_.started);
  result_.slots_used = used_slot_ms_ / (static_cast<double>((last_arrival_ - first).count()) * total_slots_);
  return result_;
}

void World::arrive(JobId job) {
  now_.waiting.push_back(jobs_[static_cast<std::size_t>(job - 1)].waiting);
}

void World::end(JobId id) {
  const Waiting& job = jobs_[static_cast<std::size_t>(id - 1)].waiting;
  const Place place = places_.at(id);
  places_.erase(id);
  std::erase_if(now_.running, [&](const Running& each) { return each.job == id; });
  now_.users[job.user].add(now_.shapes[job.shape], -1);
  if (place.pool) now_.allocations[*place.pool].add(now_.shapes[job.shape], -1);
  book(id, place, -1);
}

void World::book(JobId job, const Place& place, int sign) {
  for (const HostShare& share : place.hosts) {
    slots_used_[share.host] += sign * share.instances;
    jobs_on_[share.host] += sign;
    if (sign > 0 && slots_used_[share.host] > kSlots && jobs_on_[share.host] > 1)
      problem("job " + std::to_string(job) + " shares a full host");
  }
  for (const IldIpus& each : place.ipus) {
    for (vipu::IpuMask left = each.ipus; left != 0; left &= left - 1) {
      const std::pair<std::size_t, int> ipu{each.ild, std::countr_zero(left)};
      const bool is_right = sign > 0 ? ipus_.insert(ipu).second : ipus_.erase(ipu) == 1;
      if (!is_right) problem("job " + std::to_string(job) + " has an IPU of another job");
    }
  }
}

void World::pass() {
  const std::vector<std::size_t> turn = inTurn(now_);
  Plan made = plan(now_);
  if (made.starts.size() + made.waits.size() != now_.waiting.size()) problem("a job has no answer");
  if (settings_.only_in_turn) {
    std::size_t kept = 0;
    while (kept < made.starts.size() && now_.waiting[turn[kept]].job == made.starts[kept].job) ++kept;
    made.starts.resize(kept);
  } else {
    checkPromise(made, turn);
  }
  for (const Start& each : made.starts) start(each);
  std::erase_if(now_.waiting, [&](const Waiting& each) {
    return jobs_[static_cast<std::size_t>(each.job - 1)].has_started;
  });
}

// The first job that waits for others to end has a time, if that is known; what comes after it does not make
// this later. A job that comes before it does.
void World::checkPromise(const Plan& made, const std::vector<std::size_t>& turn) {
  const auto starts = [&](JobId job) {
    return std::any_of(made.starts.begin(), made.starts.end(),
                       [&](const Start& each) { return each.job == job; });
  };
  if (head_ != 0 && promised_ && starts(head_) && now_.now > *promised_)
    problem("job " + std::to_string(head_) + " starts after its time");
  // A job whose user was at a quota until now may start before the head.
  for (const std::size_t next : turn) {
    if (now_.waiting[next].job == head_) break;
    if (starts(now_.waiting[next].job)) promised_ = std::nullopt;
  }
  const auto head = std::find_if(made.waits.begin(), made.waits.end(),
                                 [](const Wait& each) { return each.why != Why::kQuota; });
  if (head == made.waits.end()) return void(head_ = 0);
  if (head->job != head_) {
    head_ = head->job;
    promised_ = std::nullopt;
  }
  if (promised_ && (!head->expected || *head->expected > *promised_))
    problem("the time of job " + std::to_string(head_) + " has become later");
  if (!head->expected) return;
  if (!promised_) ++result_.promises;
  promised_ = head->expected;
}

void World::start(const Start& start) {
  Job& job = jobs_[static_cast<std::size_t>(start.job - 1)];
  if (std::exchange(job.has_started, true)) problem("job " + std::to_string(start.job) + " starts twice");
  const Shape& shape = now_.shapes[job.waiting.shape];
  now_.users[job.waiting.user].add(shape);
  if (start.place.pool) now_.allocations[*start.place.pool].add(shape);
  for (const std::vector<Account>* const accounts : {&now_.users, &now_.allocations}) {
    for (const Account& each : *accounts) {
      const Limits& limits = each.limits;
      if ((limits.running_jobs && each.jobs > *limits.running_jobs) ||
          (limits.instances && each.instances > *limits.instances) ||
          (limits.ipus && each.ipus > *limits.ipus))
        problem(each.name + " is over its quota");
    }
  }
  places_[start.job] = start.place;
  book(start.job, start.place, 1);
  now_.running.push_back(
      {start.job, start.place, shape.limit ? std::optional(now_.now + *shape.limit) : std::nullopt});
  ends_.insert({now_.now + job.runs, start.job});
  const milliseconds waited = now_.now - job.waiting.since;
  result_.longest_wait = std::max(result_.longest_wait, waited);
  result_.mean_wait += waited;
  ++result_.started;
  addTo(result_.digest, static_cast<std::uint64_t>(start.job));
  addTo(result_.digest, static_cast<std::uint64_t>(now_.now.time_since_epoch().count()));
  for (const HostShare& share : start.place.hosts) addTo(result_.digest, share.host);
}

}  // namespace pop::queue::testing
