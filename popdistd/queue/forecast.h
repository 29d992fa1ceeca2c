// SPDX-License-Identifier: Apache-2.0
// The times and places at which waiting jobs would start if none overtook another: by the limits of running
// jobs, then by those of the jobs before. Pure.
#pragma once

#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "popdistd/queue/room.h"

namespace pop::queue {

/// A place that is taken until `ends`; missing: for an unknown time. If a job's limit has passed, `ends` is
/// near.
struct Running {
  JobId job = 0;  ///< 0: none, as of partitions that stay
  Place place;
  std::optional<Time> ends;
};

/// The place booked for a job that waits.
struct Booking {
  std::optional<Time> at;  ///< missing: it depends on jobs without a limit
  Place place;
  std::vector<int> spare;  ///< slots that stay free then, for each of the place's hosts
};

class Forecast {
 public:
  /// `running` is in `room` already, and outlives this.
  Forecast(Room room, const std::vector<Running>& running, Time now);

  /// A job starts now, out of turn.
  void started(const Place& place, std::optional<Time> ends);

  /// The next job in turn: it starts no earlier than those before. Nothing: there is no place for it,
  /// whatever ends.
  std::optional<Booking> next(const Shape& shape);

 private:
  struct Release {
    Time at;
    std::size_t lease = 0;
    friend bool operator>(const Release& a, const Release& b) {
      return a.at != b.at ? a.at > b.at : a.lease > b.lease;
    }
  };

  void add(const Place& place, Time ends);
  bool release(const Shape& shape, std::size_t& fitting);
  Place walkTo(const Shape& shape);
  Booking book(const Shape& shape, Place place);
  Booking bookUnknown(Place place);

  Room first_;  ///< now
  Room at_;     ///< at time_
  Room last_;   ///< when all that ends at a known time has
  Time time_;
  std::vector<const Place*> leases_;
  std::deque<Place> own_;  ///< of `leases_`, those that only this has
  std::priority_queue<Release, std::vector<Release>, std::greater<>> releases_;
};

}  // namespace pop::queue
