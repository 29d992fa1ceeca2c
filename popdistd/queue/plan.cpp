// SPDX-License-Identifier: Apache-2.0
#include "popdistd/queue/plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "popdistd/queue/words.h"

namespace pop::queue {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNearlyOver{1000};
constexpr std::chrono::minutes kOverdue{1};

// A job is told to stop when its limit has passed. One that is still there long after that may stay.
std::optional<Time> expectedEnd(std::optional<Time> ends, Time now) {
  if (!ends || *ends > now) return ends;
  return now - *ends < kOverdue ? std::optional(now + kNearlyOver) : std::nullopt;
}

class Pass {
 public:
  explicit Pass(const Snapshot& snapshot)
      : snapshot_(snapshot),
        running_(snapshot.running),
        room_(snapshot.hosts, snapshot.pools),
        bookings_(snapshot.hosts, snapshot.pools),
        users_(snapshot.users),
        allocations_(snapshot.allocations),
        misses_(snapshot.shapes.size(), kFits) {
    for (Running& each : running_) {
      each.ends = expectedEnd(each.ends, snapshot.now);
      room_.take(each.place);
    }
  }

  Plan run() {
    plan_.waits.reserve(snapshot_.waiting.size());
    for (const std::size_t next : inTurn(snapshot_)) decide(snapshot_.waiting[next]);
    return std::move(plan_);
  }

 private:
  static constexpr std::size_t kFits = std::numeric_limits<std::size_t>::max();
  struct Miss {
    Why why;
    std::size_t text;
  };

  void decide(const Waiting& job) {
    const Shape& shape = snapshot_.shapes[job.shape];
    if (!shape.blocked.empty()) return wait(job, blocked(job.shape));
    if (const std::optional<Miss> over = overQuota(job, shape)) return wait(job, *over);
    if (misses_[job.shape] == kFits) {
      const std::optional<Time> ends = endOf(shape);
      const Guard guard = bookings_.guardFor(ends);
      if (std::optional<Place> place = room_.fit(shape, guard, opener(shape)))
        return start(job, shape, std::move(*place), ends);
      Reason reason = whyNoFit(snapshot_, allocations_, shape, room_, guard, bookings_);
      remember(job.shape, {reason.why, addText(std::move(reason.text))});
    }
    const Miss& miss = known_misses_[misses_[job.shape]];
    wait(job, miss, miss.why == Why::kQuota ? std::nullopt : expected(job, shape));
  }

  std::optional<Time> endOf(const Shape& shape) const {
    return shape.limit ? std::optional(snapshot_.now + *shape.limit) : std::nullopt;
  }

  std::function<bool(std::size_t)> opener(const Shape& shape) const {
    if (shape.segment_ipus == 0 || shape.allocation) return nullptr;
    return [this, &shape](std::size_t pool) { return allows(allocations_[pool], shape); };
  }

  void start(const Waiting& job, const Shape& shape, Place place, std::optional<Time> ends) {
    room_.take(place);
    bookings_.started(place, ends);
    if (forecast_) forecast_->started(place, ends);
    users_[job.user].add(shape);
    if (const std::optional<std::size_t> allocation = shape.allocation ? shape.allocation : place.pool)
      allocations_[*allocation].add(shape);
    if (!forecast_) running_.push_back({job.job, place, ends});
    plan_.starts.push_back({job.job, std::move(place)});
  }

  // Books a place, which those after it leave to it: from the first job whose time is known, and from all
  // that have waited for long.
  std::optional<Time> expected(const Waiting& job, const Shape& shape) {
    if (num_forecasts_ == snapshot_.rules.most_bookings) return std::nullopt;
    ++num_forecasts_;
    if (!forecast_) forecast_.emplace(room_, running_, snapshot_.now);
    std::optional<Booking> booking = forecast_->next(shape);
    if (!booking) return std::nullopt;
    const std::optional<Time> at = booking->at;
    const bool is_old = snapshot_.now - job.since >= snapshot_.rules.backfill_age;
    if (is_old || (at && bookings_.empty())) bookings_.add(job.job, std::move(*booking));
    return at;
  }

  std::optional<Miss> overQuota(const Waiting& job, const Shape& shape) {
    const bool user_may = allows(users_[job.user], shape);
    if (user_may && (!shape.allocation || allows(allocations_[*shape.allocation], shape)))
      return std::nullopt;
    const auto key = std::pair(user_may ? kFits : job.user, job.shape);
    if (const auto known = quota_texts_.find(key); known != quota_texts_.end())
      return Miss{Why::kQuota, known->second};
    const Account& account = user_may ? allocations_[*shape.allocation] : users_[job.user];
    const std::size_t text = addText("quota: " + whyNot(account, shape));
    quota_texts_[key] = text;
    return Miss{Why::kQuota, text};
  }

  Miss blocked(std::size_t shape) {
    if (misses_[shape] == kFits) remember(shape, {Why::kHosts, addText(snapshot_.shapes[shape].blocked)});
    return known_misses_[misses_[shape]];
  }

  // A shape that does not fit once does not fit later in the pass: there is only less.
  void remember(std::size_t shape, Miss miss) {
    misses_[shape] = known_misses_.size();
    known_misses_.push_back(miss);
  }

  void wait(const Waiting& job, Miss miss, std::optional<Time> expected = std::nullopt) {
    plan_.waits.push_back({job.job, miss.why, miss.text, expected});
  }

  std::size_t addText(std::string text) {
    plan_.texts.push_back(std::move(text));
    return plan_.texts.size() - 1;
  }

  const Snapshot& snapshot_;
  std::vector<Running> running_;
  Room room_;
  Bookings bookings_;
  std::vector<Account> users_;
  std::vector<Account> allocations_;
  std::optional<Forecast> forecast_;
  std::size_t num_forecasts_ = 0;
  std::vector<std::size_t> misses_;  ///< by shape, in known_misses_
  std::vector<Miss> known_misses_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> quota_texts_;
  Plan plan_;
};

}  // namespace

Plan plan(const Snapshot& snapshot) {
  return Pass(snapshot).run();
}

// As if it had been submitted so much earlier: the turn of two jobs does not change while they wait.
std::vector<std::size_t> inTurn(const Snapshot& snapshot) {
  struct Rank {
    double at_ms;
    JobId job;
    std::size_t number;
  };
  const auto bonus_ms = static_cast<double>(snapshot.rules.age_bonus.count());
  std::vector<Rank> ranks;
  ranks.reserve(snapshot.waiting.size());
  for (const Waiting& job : snapshot.waiting) {
    const double claim = snapshot.rules.fair_share ? snapshot.users[job.user].claim : 0;
    const auto since_ms = static_cast<double>(job.since.time_since_epoch().count());
    ranks.push_back({since_ms - bonus_ms * (job.priority + claim), job.job, ranks.size()});
  }
  std::sort(ranks.begin(), ranks.end(), [](const Rank& a, const Rank& b) {
    return a.at_ms != b.at_ms ? a.at_ms < b.at_ms : a.job < b.job;
  });
  std::vector<std::size_t> turn;
  turn.reserve(ranks.size());
  for (const Rank& each : ranks) turn.push_back(each.number);
  return turn;
}

}  // namespace pop::queue
