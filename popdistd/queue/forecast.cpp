// SPDX-License-Identifier: Apache-2.0
#include "popdistd/queue/forecast.h"

#include <algorithm>
#include <utility>

namespace pop::queue {

Forecast::Forecast(Room room, const std::vector<Running>& running, Time now)
    : first_(room), at_(room), last_(std::move(room)), time_(now) {
  leases_.reserve(running.size());
  for (const Running& each : running) {
    if (!each.ends) continue;
    last_.give(each.place);
    add(each.place, *each.ends);
  }
}

void Forecast::add(const Place& place, Time ends) {
  leases_.push_back(&place);
  releases_.push({ends, leases_.size() - 1});
}

// At the time that has been reached, it may be over already.
void Forecast::started(const Place& place, std::optional<Time> ends) {
  first_.take(place);
  if (ends && *ends <= time_) return;
  at_.take(place);
  ends ? add(own_.emplace_back(place), *ends) : last_.take(place);
}

std::optional<Booking> Forecast::next(const Shape& shape) {
  if (last_.fit(shape)) return book(shape, walkTo(shape));
  std::optional<Place> place = first_.nearest(shape, last_);
  return place ? std::optional(bookUnknown(std::move(*place))) : std::nullopt;
}

// Fits are tried only where the answer may have changed: thousands of jobs may end before.
Place Forecast::walkTo(const Shape& shape) {
  std::size_t fitting = 0;
  if (shape.named.empty()) {
    for (const std::size_t host : at_.candidates(shape)) fitting += at_.takes({host, shape.share}) ? 1U : 0U;
  }
  bool may_fit = true;
  while (true) {
    if (may_fit) {
      if (std::optional<Place> place = at_.fit(shape)) return std::move(*place);
    }
    if (releases_.empty()) return last_.fit(shape).value_or(Place{});  // it fits there: next() has asked
    may_fit = release(shape, fitting);
  }
}

bool Forecast::release(const Shape& shape, std::size_t& fitting) {
  const Release next = releases_.top();
  releases_.pop();
  time_ = std::max(time_, next.at);
  const Place& place = *leases_[next.lease];
  const auto count = [&] {
    return static_cast<std::size_t>(
        std::count_if(place.hosts.begin(), place.hosts.end(), [&](const auto& each) {
          return at_.takes({each.host, shape.share});
        }));
  };
  const std::size_t before = count();
  at_.give(place);
  fitting += count() - before;
  const bool has_hosts =
      !shape.named.empty() || shape.of_hosts || fitting >= static_cast<std::size_t>(shape.num_hosts);
  return has_hosts && (releases_.empty() || releases_.top().at > next.at);
}

Booking Forecast::book(const Shape& shape, Place place) {
  at_.take(place);
  Booking booking{time_, {}, {}};
  for (const HostShare& share : place.hosts) booking.spare.push_back(at_.freeSlots(share.host));
  if (shape.limit) {
    add(own_.emplace_back(place), time_ + *shape.limit);
  } else {
    last_.take(place);
  }
  booking.place = std::move(place);
  return booking;
}

Booking Forecast::bookUnknown(Place place) {
  Booking booking{std::nullopt, {}, {}};
  for (const HostShare& share : place.hosts)
    booking.spare.push_back(std::max(0, first_.freeSlots(share.host) - share.instances));
  at_.take(place);
  last_.take(place);
  booking.place = std::move(place);
  return booking;
}

}  // namespace pop::queue
