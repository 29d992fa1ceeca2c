// SPDX-License-Identifier: Apache-2.0
// The bookings of jobs that wait, and the resources that jobs after them may take all the same: those that
// they give back before the booking's time, and those left over then. Pure.
#pragma once

#include <optional>
#include <vector>

#include "popdistd/queue/forecast.h"

namespace pop::queue {

class Bookings {
 public:
  Bookings(const std::vector<Host>& hosts, const std::vector<Pool>& pools) : hosts_(hosts), pools_(pools) {}

  void add(JobId job, Booking booking) { kept_.push_back({job, std::move(booking)}); }
  bool empty() const { return kept_.empty(); }

  /// The resources that a job running until `ends` must leave alone; missing: it ends at an unknown time.
  Guard guardFor(std::optional<Time> ends) const;

  /// A job starts there, which has kept to the guard.
  void started(const Place& place, std::optional<Time> ends);

  /// The first job for which this host, or anything of these pools, or the partition, is booked.
  std::optional<JobId> ofHost(std::size_t host) const;
  std::optional<JobId> ofPools(const std::vector<std::size_t>& pools) const;
  std::optional<JobId> ofPartition(std::size_t partition) const;

 private:
  struct Kept {
    JobId job = 0;
    Booking booking;
  };

  static bool outlives(std::optional<Time> ends, const Booking& booking) {
    return !ends || !booking.at || *ends > *booking.at;
  }

  const std::vector<Host>& hosts_;
  const std::vector<Pool>& pools_;
  std::vector<Kept> kept_;
};

}  // namespace pop::queue
